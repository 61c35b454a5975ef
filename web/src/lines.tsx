// Source lines: what each costs, and behind a click how long its calls take.

import { h } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Model } from './model'
import { Histogram } from './histogram'
import { more, type KeyBars, type LineCalls } from './more'
import { Described } from './described'
import { span, type SectionProps } from './sections'
import { term } from './terms'
import { bytes, count, share, time, unknown } from './units'

export function Lines(p: SectionProps) {
  const { doc, model, view, change } = p
  const [from, to] = span(p)
  const rows = useMemo(() => view.select ? within(model, doc.lines ?? [], from, to) : doc.lines ?? [], [model, doc, from, to])
  const drawn = useMemo(() => new Map(more(doc).lines.map(l => [keyOf(l), l])), [doc])
  const shown = (doc.lines ?? [])[view.line]
  return <Described doc={doc} table="lines" selected={view.select !== null} rows={rows} caption={view.select ? undefined : ': choose one to see how long its calls take'}
    chosen={r => shown && keyOf(r) === keyOf(shown)}
    choose={r => change(shown && keyOf(r) === keyOf(shown) ? { line: -1, path: -1 } : { line: (doc.lines ?? []).findIndex((l: any) => keyOf(l) === keyOf(r)), path: pathOf(model, r), place: -1 })}
    detail={r => <Calls calls={drawn.get(keyOf(r))} />}
    more={shown && (more(doc).sources ?? []).some(f => f.name === shown.file) ? <button onClick={() => change({ tab: 'source', file: `${shown.file}:${shown.line}` })}>Show the source of the chosen line</button> : null} />
}

// within sums the calls of lines over a stretch of time, from the timeline.
function within(model: Model, lines: any[], from: number, to: number): any[] {
  const sums = model.sums(from, to, model.timeline.lanes.map((_, i) => i))
  return lines.map(l => {
    const at = model.at(l), row = { ...l, time_ns: 0, late_partner_ns: 0, imbalance_ns: 0 }
    model.head.activities.forEach(([, wait], a) => {
      if (!at[a]) return
      row.time_ns += sums[a]
      if (wait > 0) row[model.head.partners[wait] ? 'late_partner_ns' : 'imbalance_ns'] += sums[a]
    })
    return row
  }).filter(r => r.time_ns > 0)
}

function keyOf(l: { region?: string | null; file?: string | null; line?: number | null; operation: string }): string {
  return JSON.stringify([l.operation, l.region || '', l.file || '', l.line || 0])
}

function pathOf(model: Model, r: any): number {
  const a = model.at(r).indexOf(1)
  return a < 0 ? -1 : model.head.activities[a][0]
}

// Calls are the histograms of a line.
function Calls({ calls }: { calls: LineCalls | undefined }) {
  if (!calls) return <p class="faint">Of this line there is no histogram: its calls do not communicate, or other lines take more time.</p>
  return <div class="histograms">{calls.keys.map(k => <KeyHistogram operation={calls.operation} k={k} />)}
    {calls.keys_of > calls.keys.length && <p class="faint">The {calls.keys.length} of {calls.keys_of} kinds of call with the most calls.</p>}</div>
}

function KeyHistogram({ operation, k }: { operation: string; k: KeyBars }) {
  const bars = k.counts.slice(0, -1), beyond = k.counts[k.counts.length - 1]
  const edge = (i: number) => k.origin_ns + i * k.width_ns
  const slow = bars.reduce((s, n, i) => edge(i) >= k.t_max_ns ? s + n : s, beyond)
  const kind = [operation, k.role, `${k.processes} processes`, bytes(k.bytes)].filter(Boolean).join(', ')
  return <Histogram label={`Durations of ${k.calls} calls of ${kind}`} counts={bars} expected={k.expected}
    caption={<span><b>{kind}</b>: {count(k.calls)} {k.calls === 1 ? 'call' : 'calls'} without their wait states. <span title={term('t_min, t_max')}>t_max {time(k.t_max_ns)}</span>
      {k.law ? <span title={term('law')}>, by the law <b class="lawname">{k.law}</b> of all such calls (p = {k.p_value?.toPrecision(2) ?? unknown})</span> : k.from === 'empirical' ? ', by the calls themselves: no law was accepted' : k.from === 'equal' ? ': all calls take as long' : `, ${k.from} from a profile`}
      {k.unreliable && <span class="late">, unreliable</span>}; {slow > 0 ? `about ${count(slow)} (${share(slow / k.calls)}) take longer` : 'none takes longer'}{beyond > 0 && `, ${count(beyond)} of them beyond the picture`}.</span>}
    name={i => `${time(edge(i))} to ${time(edge(i + 1))}: ${count(bars[i])} calls${k.expected ? `, the law expects ${k.expected[i].toPrecision(3)}` : ''}`}
    edges={[0, 0.25, 0.5, 0.75, 1].map(x => time(edge(x * bars.length)))}
    mark={{ at: (k.t_max_ns - k.origin_ns) / k.width_ns, name: 't_max' }} />
}
