// The parts of the page below the timeline.

import { h } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Document } from './data'
import type { Model } from './model'
import type { View } from './view'
import { Table, type Column } from './table'
import { bytes, count, file, share, time } from './units'

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

const money = <R,>(name: string, title: string, value: (r: R) => number | null, bar = false): Column<R> =>
  ({ name, title, value, show: r => time(value(r)), bar })

interface Node { path: number; depth: number; own: number; all: number; wait: number }

// CallTree is call tree × metric × ranks, of the selected stretch of time.
export function CallTree(p: SectionProps) {
  const { model, view, change } = p
  const [from, to] = span(p)
  const rows = useMemo(() => model.timeline.lanes.map((_, i) => i), [model])
  const nodes = useMemo(() => tree(model, model.sums(from, to, rows)), [model, from, to])
  const total = nodes.reduce((s, n) => s + n.own, 0)
  const ranks = useMemo(() => view.path < 0 ? null : model.byRow(from, to, model.below(view.path)), [model, view.path, from, to])
  const columns = useMemo((): Column<Node>[] => [
    { name: 'Call path', value: n => model.names[n.path], show: n => <span style={{ paddingLeft: `${n.depth * 14}px` }}>{model.names[n.path]} <span class="faint">{model.where(n.path)}</span></span> },
    money('Time', 'in this path and below, summed over all rows', n => n.all, true),
    { name: 'Share', value: n => n.all / total, show: n => share(total > 0 ? n.all / total : null), title: 'of the recorded time of all rows' },
    money('Own', 'in this path, outside what it calls', n => n.own),
    money('Waiting', 'of Time, in wait states', n => n.wait, true),
  ], [model, total])
  const coarse = model.head.rows.some(r => r.step_ns > 1)
  return <div class="pair">
    <div>
      <Table caption="Call tree, times summed over rows" columns={columns} rows={nodes} first={40}
        chosen={n => n.path === view.path} choose={n => change({ path: n.path === view.path ? -1 : n.path, place: -1 })} />
      {coarse && <p class="faint">Times of a selection are those of the timeline, to the step in which it is shown.</p>}
    </div>
    <div>{ranks ? <RankBars model={model} times={ranks} title={`${model.names[view.path]} and below, by row`} /> :
      <p class="faint">Choose a call path, here or in the timeline, and see its time on every rank.</p>}</div>
  </div>
}

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

export function Lines({ doc, model, view, change }: SectionProps) {
  const rows: any[] = doc.lines ?? []
  const columns = useMemo((): Column<any>[] => [
    { name: 'Line', value: r => place(r), show: r => <span title={r.file ?? ''}>{place(r)}</span> },
    { name: 'Operation', value: r => r.operation },
    { name: 'Calls', value: r => r.calls, show: r => count(r.calls) },
    money('Time', 'sum over ranks of the calls that the line makes', r => r.time_ns, true),
    money('Own', 'what the calls need themselves', r => r.own_ns),
    money('Late partner', 'waiting for a sender or a receiver', r => r.late_partner_ns),
    money('Imbalance', 'waiting for the last in a collective', r => r.imbalance_ns),
    money('Transfer', 'more than the smallest messages of the class need', r => r.transfer_ns),
    money('Unexplained', 'more than such calls need, and no wait state', r => r.unexplained_ns),
    money('Causes', 'waits of other ranks that this line causes', r => r.causes_ns, true),
    money('Critical path', 'of it that lies on the critical path', r => r.critical_path_ns),
  ], [])
  return <Table caption="Cost of each source line over the run: own + waits + transfer + unexplained = time" columns={columns} rows={rows} sort={3}
    choose={r => { const p = pathOf(model, r); change({ path: p, place: -1 }) }} chosen={r => view.path >= 0 && pathOf(model, r) === view.path} />
}

function pathOf(model: Model, r: any): number {
  const wanted = model.at(r)
  const a = wanted.indexOf(1)
  return a < 0 ? -1 : model.head.activities[a][0]
}

export function Waits({ doc }: SectionProps) {
  const rows = useMemo(() => Object.entries(doc.wait_states ?? {}).filter(([, w]: any) => w?.count > 0).map(([key, w]: any) => ({ key, ...w })), [doc])
  const columns: Column<any>[] = [
    { name: 'Wait state', value: r => r.key.replaceAll('_', ' ') },
    { name: 'Calls', value: r => r.count, show: r => count(r.count) },
    money('Time', 'sum over ranks', r => r.time_ns, true),
    { name: 'Share', value: r => r.share, show: r => share(r.share), title: 'of the sum over ranks of the run time' },
    money('Direct', 'caused by a delay, not by another wait', r => r.direct_ns),
    money('Indirect', 'caused by another wait', r => r.indirect_ns),
    money('Longest', 'the longest single one', r => r.top?.[0]?.time_ns ?? null),
    { name: 'where', value: r => r.top?.[0] ? `rank ${r.top[0].rank}, ${place(r.top[0])}` : null },
  ]
  const delays: Column<any>[] = [
    { name: 'Place', value: r => place(r) },
    { name: 'Operation', value: r => r.operation },
    money('Delays others', 'waits of all ranks that it causes, at once and later', r => r.total_ns, true),
    money('at once', 'short-term costs', r => r.short_ns),
    money('later', 'long-term costs, passed on from wait to wait', r => r.long_ns),
    { name: 'Most by', value: r => r.most_rank, show: r => r.most_rank == null ? '–' : `rank ${r.most_rank}: ${time(r.most_rank_ns)}` },
  ]
  return <div><Table caption="Wait states of the run" columns={columns} rows={rows} sort={2} />
    <Table caption="What makes others wait" columns={delays} rows={doc.delays ?? []} sort={2} /></div>
}

// Communication is the matrix of messages, by bytes, with their sizes and latencies.
export function Communication({ doc }: SectionProps) {
  const cells: any[] = doc.comm_matrix ?? [], m = doc.messages
  const ranks = doc.trace?.processes ?? 0
  const n = Math.min(ranks, 128), per = Math.max(1, Math.ceil(ranks / n))
  const most = useMemo(() => Math.max(...grid(cells, n, per).values(), 1), [cells])
  const sum = grid(cells, n, per)
  const sizes: Column<any>[] = [
    { name: 'Size', value: r => r.from, show: r => `${bytes(r.from)} to ${bytes(r.to)}` },
    { name: 'Messages', value: r => r.count, show: r => count(r.count), bar: true },
    { name: 'Bytes', value: r => r.bytes, show: r => bytes(r.bytes), bar: true },
  ]
  const latencies: Column<any>[] = [
    { name: 'Latency', value: r => r.from, show: r => `${time(r.from)} to ${time(r.to)}` },
    { name: 'Messages', value: r => r.count, show: r => count(r.count), bar: true },
  ]
  const colls: Column<any>[] = [
    { name: 'Collective', value: r => r.operation },
    { name: 'Number', value: r => r.count, show: r => count(r.count) },
    money('Time', 'sum over members', r => r.time_ns, true),
    money('Skew', 'waiting for the last member', r => r.skew_ns),
    money('Transfer', 'after the last member came', r => r.transfer_ns),
    money('Completion', 'after the first member left', r => r.completion_ns),
  ]
  if (!m && !(doc.collectives ?? []).length) return <p class="faint">The trace has no messages and no collectives.</p>
  return <div>
    {cells.length > 0 && <figure class="matrix">
      <figcaption>Bytes from rank (down) to rank (across){per > 1 && `, ${per} ranks a cell`}; the darkest cell {bytes(most)}</figcaption>
      <svg viewBox={`0 0 ${n} ${n}`} role="img" aria-label={`Matrix of messages between ${ranks} ranks`} preserveAspectRatio="xMidYMid meet">
        <rect width={n} height={n} class="ground" />
        {[...sum].map(([k, v]) => <rect x={k % n} y={Math.floor(k / n)} width="1" height="1" class="cell" fill-opacity={0.15 + 0.85 * Math.log1p(v) / Math.log1p(most)}>
          <title>{`rank ${Math.floor(k / n) * per} to ${(k % n) * per}: ${bytes(v)}`}</title></rect>)}
      </svg>
    </figure>}
    {m && <p>{count(m.count)} messages, {bytes(m.bytes)}; latency {time(m.latency_ns?.min)} at least, {time(m.latency_ns?.p50)} in the middle, {time(m.latency_ns?.max)} at most
      {m.unmatched_sends + m.unmatched_receives > 0 && `; ${count(m.unmatched_sends)} sends and ${count(m.unmatched_receives)} receives without partner`}.</p>}
    <Table caption="Collectives" columns={colls} rows={doc.collectives ?? []} sort={2} />
    {m && <div class="pair"><Table caption="Message sizes" columns={sizes} rows={m.sizes ?? []} /><Table caption="Latencies" columns={latencies} rows={m.latencies ?? []} /></div>}
  </div>
}

function grid(cells: any[], n: number, per: number): Map<number, number> {
  const out = new Map<number, number>()
  for (const c of cells) {
    const k = Math.floor(c.from / per) * n + Math.floor(c.to / per)
    out.set(k, (out.get(k) ?? 0) + c.bytes)
  }
  return out
}

export function Profile({ doc }: SectionProps) {
  const columns: Column<any>[] = [
    { name: 'Region', value: r => r.region, show: r => place(r) },
    { name: 'Kind', value: r => r.paradigm },
    { name: 'Visits', value: r => r.count, show: r => count(r.count) },
    money('Own', 'sum over rows, outside what it calls', r => r.exclusive_ns, true),
    money('With callees', 'sum over rows', r => r.inclusive_ns),
    money('Least', 'over the ranks that visit it', r => r.min_ns),
    money('Mean', 'over the ranks that visit it', r => r.mean_ns),
    money('Most', 'over the ranks that visit it', r => r.max_ns),
    { name: 'by rank', value: r => r.max_rank },
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

const terms: [string, string][] = [
  ['Wait state', 'the time in a call of MPI in which it can only wait for another rank: from its begin until that rank does what is waited for'],
  ['Late sender', 'a receive that was there before the message was sent'],
  ['Late receiver', 'a send that must wait until its receive is there'],
  ['Wait at N×N', 'time in a collective until the last member came'],
  ['Delay', 'what one rank does longer than another before they meet, with all waits that follow from it, charged to the place where it is done'],
  ['Parallel efficiency', 'mean over ranks of the time outside MPI, over the run time; it is load balance × communication efficiency'],
  ['Load balance', 'mean over ranks of the time outside MPI, over the largest'],
  ['Communication efficiency', 'the largest time outside MPI of a rank, over the run time; it is serialization × transfer efficiency'],
  ['Critical path', 'the chain of work, from the first event to the last, that nothing waits on: only what lies on it makes the run longer'],
  ['Gain', 'by how much a replay of the run with the change is shorter than the run; gains do not add up'],
]

export function Terms() {
  return <dl>{terms.map(([t, d]) => <div><dt>{t}</dt><dd>{d}</dd></div>)}</dl>
}
