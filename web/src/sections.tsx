// The parts of the page below the timeline.

import { h } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Document } from './data'
import type { Model } from './model'
import type { View } from './view'
import { Table, type Column } from './table'
import { Ranks } from './grids'
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

interface Node { path: number; depth: number; own: number; all: number; wait: number }

// CallTree is call tree × metric × ranks, of the selected stretch of time.
export function CallTree(p: SectionProps) {
  const { model, view, change } = p
  const [from, to] = span(p)
  const rows = useMemo(() => model.timeline.lanes.map((_, i) => i), [model])
  const nodes = useMemo(() => tree(model, model.sums(from, to, rows)), [model, from, to])
  const total = nodes.reduce((s, n) => s + n.own, 0), waits = model.head.activities.some(([, w]) => w > 0)
  const ranks = useMemo(() => view.path < 0 ? null : model.byRow(from, to, model.below(view.path)), [model, view.path, from, to])
  const columns = useMemo((): Column<Node>[] => [
    { name: 'Call path', value: n => model.names[n.path], show: n => <span class="node" style={{ paddingLeft: `${indent(n.depth)}px` }}>{model.names[n.path]} <span class="faint">{model.where(n.path)}</span></span> },
    money('Time', term('inclusive, exclusive'), n => n.all, true),
    { name: 'Share', value: n => n.all / total, show: n => share(total > 0 ? n.all / total : null), title: term('share of a path') },
    money('Own', term('inclusive, exclusive'), n => n.own),
    ...waits ? [money<Node>('Waiting', term('wait state'), n => n.wait, true)] : [],
  ], [model, total, waits])
  return <div class="pair">
    <div>
      <Table caption="Call tree, times summed over rows" columns={columns} rows={nodes} first={40}
        chosen={n => n.path === view.path} choose={n => change({ path: n.path === view.path ? -1 : n.path, place: -1 })} />
    </div>
    <div>{ranks ? <Ranks {...p} times={ranks} title={`${model.names[view.path]} and below, by row`} /> :
      <p class="faint">Choose a call path, here or in the timeline, and see its time on every rank.</p>}</div>
  </div>
}

// indent is how far to the right a node of the call tree stands, px: deep ones hardly more than
// those above, so that there is room for their names.
function indent(depth: number): number { return Math.min(depth, 10) * 14 + Math.max(depth - 10, 0) * 3 }

function tree(model: Model, sums: Float64Array): Node[] {
  const { paths, activities } = model.head
  const own = new Float64Array(paths.length), wait = new Float64Array(paths.length)
  activities.forEach(([p, w], a) => { if (p >= 0) { own[p] += sums[a]; if (w > 0) wait[p] += sums[a] } })
  const all = own.slice()
  for (let p = paths.length - 1; p >= 0; p--) if (paths[p][0] >= 0) { all[paths[p][0]] += all[p]; wait[paths[p][0]] += wait[p] }
  const children = new Map<number, number[]>()
  paths.forEach(([parent], p) => { if (all[p] > 0) { const c = children.get(parent); if (c) c.push(p); else children.set(parent, [p]) } })
  const out: Node[] = []
  const visit = (parent: number, depth: number) => {
    for (const p of (children.get(parent) ?? []).sort((a, b) => all[b] - all[a] || a - b)) {
      out.push({ path: p, depth, own: own[p], all: all[p], wait: wait[p] })
      if (depth < 200) visit(p, depth + 1)
    }
  }
  visit(-1, 0)
  return out
}

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
