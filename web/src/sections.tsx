// The parts of the page below the timeline.

import { h } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Document } from './data'
import type { Model } from './model'
import type { View } from './view'
import { Table, type Column } from './table'
import { term } from './terms'
import { count, file, share, time } from './units'

export interface SectionProps {
  doc: Document
  model: Model
  view: View
  change: (v: Partial<View>) => void
}

// span is what the tables are about: the selected stretch of time, or all.
export function span({ view, model }: { view: View; model: Model }): [number, number] {
  return view.select ?? [0, model.head.length_ns]
}

export function place(r: { region?: string | null; file?: string | null; line?: number | null }): string {
  const at = r.file ? r.line ? `${file(r.file)}:${r.line}` : file(r.file) : ''
  return r.region ? at ? `${r.region} (${at})` : r.region : at || '–'
}

// money is a column of times.
export const money = <R,>(name: string, title: string, value: (r: R) => number | null, bar = false): Column<R> =>
  ({ name, title, value, show: r => time(value(r)), bar })

export function RankBars({ model, times, title }: { model: Model; times: Float64Array; title: string }) {
  const most = Math.max(...times, 1), used = Array.from(times, (t, r) => ({ t, r })).filter(x => x.t > 0)
  if (!used.length) return <p class="faint">{title}: no time.</p>
  const mean = used.reduce((s, x) => s + x.t, 0) / used.length
  const shown = used.length > 64 ? [...used].sort((a, b) => b.t - a.t || a.r - b.r).slice(0, 64) : used
  return <figure class="ranks">
    <figcaption>{title}: mean {time(mean)}, most {time(most)}{used.length > 64 && `; the 64 longest of ${used.length}`}</figcaption>
    {shown.map(({ t, r }) => <div class="rank" title={`${model.rowName(r)}: ${time(t)}`}>
      <span class="name">{model.rowName(r)}</span>
      <span class="track"><span class="fill" style={{ width: `${100 * t / most}%` }} /><span class="mean" style={{ left: `${100 * mean / most}%` }} /></span>
      <span class="value">{time(t)}</span>
    </div>)}
  </figure>
}

interface Sum { name: string; time: number; wait: number }

// Chosen sums the selected stretch of time, of some rows or all, over the activities that have a name.
export function Chosen({ props, caption, first, nameOf, rows: of, waits = true }: { props: SectionProps; caption: string; first: string; nameOf: (path: number, wait: number) => string | null; rows?: number[]; waits?: boolean }) {
  const { model } = props, [from, to] = span(props)
  const rows = useMemo(() => {
    const sums = model.sums(from, to, of ?? model.timeline.lanes.map((_, i) => i)), out = new Map<string, Sum>()
    model.head.activities.forEach(([path, wait], a) => {
      const name = path >= 0 && sums[a] > 0 ? nameOf(path, wait) : null
      if (name === null) return
      const row = out.get(name) ?? { name, time: 0, wait: 0 }
      row.time += sums[a]
      if (wait > 0) row.wait += sums[a]
      out.set(name, row)
    })
    return [...out.values()]
  }, [model, from, to, of])
  const columns: Column<Sum>[] = [{ name: first, value: r => r.name }, money('Time', term('sum over ranks'), (r: Sum) => r.time, true)]
  if (waits) columns.push(money('Waiting', term('wait state'), (r: Sum) => r.wait))
  return <Table caption={caption} rows={rows} sort={1} columns={columns} />
}

// waitTitle names a wait state as the timeline's legend does.
function waitTitle(model: Model, key: string): string {
  const name = key.replaceAll('_', ' ')
  return model.head.waits.find(w => w.toLowerCase().replaceAll('×', 'x') === name) ?? name
}

export function Waits(p: SectionProps) {
  const { doc } = p
  if (p.view.select) return <Chosen props={p} caption="Wait states in the selected time" first="Wait state" nameOf={(_, wait) => wait > 0 ? p.model.head.waits[wait] : null} />
  const rows = useMemo(() => Object.entries(doc.wait_states ?? {}).filter(([, w]: any) => w?.count > 0).map(([key, w]: any) => ({ key, ...w })), [doc])
  const columns: Column<any>[] = [
    { name: 'Wait state', value: r => waitTitle(p.model, r.key) },
    { name: 'Calls', value: r => r.count, show: r => count(r.count) },
    money('Time', term('sum over ranks'), r => r.time_ns, true),
    { name: 'Share', value: r => r.share, show: r => share(r.share), title: term('share of a wait state') },
    money('Direct', term('direct, indirect'), r => r.direct_ns),
    money('Indirect', term('direct, indirect'), r => r.indirect_ns),
    money('Longest', '', r => r.top?.[0]?.time_ns ?? null),
    { name: 'Where', value: r => r.top?.[0] ? `rank ${r.top[0].rank}, ${place(r.top[0])}` : null },
  ]
  const delays: Column<any>[] = [
    { name: 'Place', value: r => place(r) },
    { name: 'Operation', value: r => r.operation },
    money('Delays others', term('waits caused'), r => r.total_ns, true),
    money('At once', term('waits caused'), r => r.short_ns),
    money('Later', term('waits caused'), r => r.long_ns),
    { name: 'Most by', value: r => r.most_rank, show: r => r.most_rank == null ? '–' : `rank ${r.most_rank}: ${time(r.most_rank_ns)}` },
  ]
  return <div><Table caption="Wait states of the run" columns={columns} rows={rows} sort={2} />
    <Table caption="What makes others wait" columns={delays} rows={doc.delays ?? []} sort={2} /></div>
}

export function Profile(p: SectionProps) {
  const { doc } = p
  if (p.view.select) return <Chosen props={p} caption="Profile of the selected time: time in regions, outside what they call" first="Region" nameOf={path => p.model.names[path]} />
  const columns: Column<any>[] = [
    { name: 'Region', value: r => r.region, show: r => place(r) },
    { name: 'Kind', value: r => r.paradigm },
    { name: 'Visits', value: r => r.count, show: r => count(r.count) },
    money('Own', term('inclusive, exclusive'), r => r.exclusive_ns, true),
    money('With callees', term('inclusive, exclusive'), r => r.inclusive_ns),
    money('Least', term('least, mean, most of a region'), r => r.min_ns),
    money('Mean', term('least, mean, most of a region'), r => r.mean_ns),
    money('Most', term('least, mean, most of a region'), r => r.max_ns),
    { name: 'Longest on rank', value: r => r.max_rank },
  ]
  return <Table caption="Profile of the whole run" columns={columns} rows={doc.profile ?? []} sort={3} />
}

export function Findings({ doc, model }: SectionProps) {
  const columns: Column<any>[] = [
    { name: 'Severity', value: r => r.severity },
    { name: 'Finding', value: r => r.text },
    { name: 'Number', value: r => r.count, show: r => count(r.count) },
    { name: 'Code', value: r => r.code },
  ]
  const c = doc.clock ?? {}, t = doc.trace ?? {}, cov = doc.coverage ?? {}, head = model.head
  const coarse = head.rows.filter(r => r.step_ns > 1)
  return <div>
    <Table caption="What is wrong with the trace" columns={columns} rows={doc.findings ?? []} />
    <dl>
      <dt>Trace</dt><dd>{t.path}, {t.format}, by {t.creator ?? 'an unknown writer'}; {count(t.locations)} locations, {count(t.events)} events</dd>
      <dt>Coverage</dt><dd>{share(cov.share)} of the records entered the analysis</dd>
      <dt>Clock</dt><dd>{c.method}; messages that run backwards: {count(c.violations_raw)} as recorded, {count(c.violations_after)} after; moved by {time(c.max_shift_ns)} at most</dd>
      <dt>Timeline</dt><dd>{coarse.length === 0 ? 'every visit is shown as it was recorded' :
        `${coarse.length} of ${head.rows.length} rows are shown in steps of up to ${time(Math.max(...coarse.map(r => r.step_ns)))}, each given to what was owed most of the time`}
        {`; ${count(model.timeline.messages.sent.length)} of ${count(head.messages_of)} messages, ${count(model.timeline.collectives.length)} of ${count(head.collectives_of)} collectives, ${count(model.timeline.critical.length)} of ${count(head.critical_of)} pieces of the critical path are in this page`}</dd>
      {doc.cut && <div><dt>Cut</dt><dd>{Object.entries(doc.cut).map(([k, n]) => `${k}: the first ${doc[k].length} of ${n} rows`).join('; ')}; the document of tracekit analyze --json has all</dd></div>}
    </dl>
    {head.files && <details open><summary>Files beside this page</summary><ul class="files">
      {head.files.filter(f => f !== 'index.html').map(f => <li><a href={'./' + encodeURI(f)}>{f}</a></li>)}</ul></details>}
  </div>
}
