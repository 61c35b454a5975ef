// The parts of the page below the timeline.

import { h } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Document } from './data'
import type { Chosen } from './dock'
import type { Coloring, Model } from './model'
import type { Other } from './runs'
import { toggled, type View } from './view'
import { Described, Tables } from './described'
import { more } from './more'
import { roving } from './roving'
import { count, share, signedTime, time } from './units'

export interface SectionProps {
  doc: Document
  model: Model
  view: View
  change: (v: Partial<View>) => void
  answer: { path: number; ranks: { times: Float64Array; title: string } } | null // to the cause that is chosen
  culprits: number[]    // rows
  coloring: Coloring
  other: Other | null   // run that is compared with this one
  tell: (c: Chosen) => void
}

// span is what the tables are about: the selected stretch of time, or all.
export function span({ view, model }: { view: View; model: Model }): [number, number] {
  return view.select ?? [0, model.head.length_ns]
}

// rowsShown is how many rows are shown as bars.
const rowsShown = 64

// RankBars shows rows as bars, the longest first; one that is clicked is pinned above the timeline.
export function RankBars({ model, view, change, tell, culprits, times, title, other, others }: SectionProps & { times: Float64Array; title: string; others?: Float64Array }) {
  const used = Array.from(times, (t, r) => ({ t, r })).filter(x => x.t > 0).sort((a, b) => b.t - a.t || a.r - b.r)
  if (!used.length) return <p class="faint">{title}: no time.</p>
  const most = used[0].t, mean = used.reduce((s, x) => s + x.t, 0) / used.length
  const there = new Map(others && other?.model.head.rows.map((_, r) => [other.model.rowName(r), others[r]])) // of rows that are called the same
  const before = (r: number) => there.get(model.rowName(r))
  const pin = (r: number) => { tell({ whole: r }); change({ pins: toggled(view.pins, r) }) }
  return <figure class="ranks">
    <figcaption>{title}: mean {time(mean)}, most {time(most)}{there.size > 0 && `; in small, ${other!.own} − ${other!.letter}`}{used.length > rowsShown && `; the ${rowsShown} longest of ${used.length}`}</figcaption>
    <div role="listbox" aria-multiselectable="true" aria-label={`${title}, the longest first; those that are selected are pinned`}>
      {used.slice(0, rowsShown).map(({ t, r }, k) => <div role="option" class={`rank ${culprits.includes(r) ? 'culprit' : ''}`} aria-selected={view.pins.includes(r)} tabIndex={k ? -1 : 0} title={`${model.rowName(r)}: ${time(t)}. Click to pin it above the timeline.`}
        onClick={() => pin(r)} onKeyDown={(e: KeyboardEvent) => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); pin(r) } else roving(e) }}>
        <span class="name">{model.rowName(r)}</span>
        <span class="track"><span class="fill" style={{ width: `${100 * t / most}%` }} /><span class="mean" style={{ left: `${100 * mean / most}%` }} /></span>
        <span class="value">{time(t)}{before(r) !== undefined && <small class="faint"> {signedTime(t - before(r)!)}</small>}</span>
      </div>)}</div>
  </figure>
}

// useSums sums the selected stretch of time, of some rows or all, over the activities that have a name: rows of a table with the
// name and the time at its keys.
export function useSums(props: SectionProps, key: string, timeKey: string, nameOf: (path: number, wait: number) => string | null, of?: number[]): any[] {
  const { model } = props, [from, to] = span(props)
  return useMemo(() => {
    const sums = model.sums(from, to, of ?? model.timeline.lanes.map((_, i) => i)), out = new Map<string, any>()
    model.head.activities.forEach(([path, wait], a) => {
      const name = path >= 0 && sums[a] > 0 ? nameOf(path, wait) : null
      if (name === null) return
      const row = out.get(name) ?? { [key]: name, [timeKey]: 0, waiting_ns: 0 }
      row[timeKey] += sums[a]
      if (wait > 0) row.waiting_ns += sums[a]
      out.set(name, row)
    })
    return [...out.values()]
  }, [model, from, to, of])
}

export function Waits(p: SectionProps) { return p.view.select ? <SelectedWaits {...p} /> : <Tables doc={p.doc} tab="waits" /> }

function SelectedWaits(p: SectionProps) {
  return <Described doc={p.doc} table="wait_states" selected rows={useSums(p, 'key', 'time_ns', (_, wait) => wait > 0 ? p.model.head.waits[wait] : null)} />
}

export function Profile(p: SectionProps) { return p.view.select ? <SelectedProfile {...p} /> : <Tables doc={p.doc} tab="profile" /> }

function SelectedProfile(p: SectionProps) {
  return <Described doc={p.doc} table="profile" selected rows={useSums(p, 'region', 'exclusive_ns', path => p.model.names[path])} />
}

export function Findings({ doc, model }: SectionProps) {
  const c = doc.clock ?? {}, t = doc.trace ?? {}, cov = doc.coverage ?? {}, head = model.head
  const coarse = head.rows.filter(r => r.step_ns > 1), { kernels, kernels_of } = more(doc)
  const cut = Object.entries<number>(doc.cut ?? {}).map(([k, n]): [string, number, number] => [k, doc[k].length, n])
  if (kernels_of > (kernels ?? []).length) cut.push(['kernels', kernels!.length, kernels_of])
  return <div>
    <Tables doc={doc} tab="findings" />
    <dl>
      <dt>Trace</dt><dd>{t.path}, {t.format}, by {t.creator ?? 'an unknown writer'}; {count(t.locations)} locations, {count(t.events)} events</dd>
      <dt>Coverage</dt><dd>{share(cov.share)} of the records entered the analysis</dd>
      <dt>Clock</dt><dd>{c.method}; messages that run backwards: {count(c.violations_raw)} as recorded, {count(c.violations_after)} after; moved by {time(c.max_shift_ns)} at most</dd>
      <dt>Timeline</dt><dd>{coarse.length === 0 ? 'every visit is shown as it was recorded' :
        `${coarse.length} of ${head.rows.length} rows are shown in steps of up to ${time(Math.max(...coarse.map(r => r.step_ns)))}, each given to what was owed most of the time`}
        {`; ${count(model.timeline.messages.sent.length)} of ${count(head.messages_of)} messages, ${count(model.timeline.collectives.length)} of ${count(head.collectives_of)} collectives, ${count(model.timeline.critical.length)} of ${count(head.critical_of)} pieces of the critical path are in this page`}</dd>
      {cut.length > 0 && <div><dt>Cut</dt><dd>{cut.map(([k, kept, n]) => `${k}: the first ${kept} of ${n} rows`).join('; ')}; the document of tracekit analyze --json has all</dd></div>}
    </dl>
    {head.files && <details open><summary>Files beside this page</summary><ul class="files">
      {head.files.filter(f => f !== 'index.html').map(f => <li><a href={'./' + encodeURI(f)}>{f}</a></li>)}</ul></details>}
  </div>
}
