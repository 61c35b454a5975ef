// Call tree × metric × ranks, of the selected stretch of time.

import { h } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { Ranks } from './grids'
import type { Model } from './model'
import { Described } from './described'
import { span, type SectionProps } from './sections'
import type { Column } from './table'
import { term } from './terms'
import { count, time } from './units'

interface Node { path: number; region: string; depth: number; exclusive_ns: number; inclusive_ns: number; share: number | null; metric: number; children: boolean }

// closedBelow is the share of all time below which what is called by a path is hidden at first.
const closedBelow = 0.01

export function CallTree(p: SectionProps) {
  const { model, view, change } = p
  const [from, to] = span(p)
  const rows = useMemo(() => model.timeline.lanes.map((_, i) => i), [model])
  const present = useMemo(() => model.head.waits.filter((_, k) => k > 0 && model.head.activities.some(([, w]) => w === k)), [model])
  const { names } = model.head.costs
  const costs = useMemo(() => names.filter((_, k) => model.head.costs.rows.some(c => c[k + 1])), [model])
  const cost = costs.find(c => c.name === view.metric)
  const metric = view.metric === 'waiting' || present.includes(view.metric) ? view.metric : ''
  const wanted = useMemo(() => counted(model, metric), [model, metric])
  const nodes = useMemo(() => tree(model, model.sums(from, to, rows), metric ? wanted : counted(model, 'waiting'), cost ? names.indexOf(cost) : -1), [model, from, to, wanted, cost])
  const total = nodes.reduce((s, n) => s + n.exclusive_ns, 0)
  const folds = nodes.some(n => n.children)
  // What was opened or closed by hand; else it is what takes little that is closed.
  const [byHand, setByHand] = useState(new Map<number, boolean>())
  const above = useMemo(() => new Set(view.path < 0 ? [] : model.pathRegions(view.path).slice(0, -1)), [model, view.path])
  const open = (n: Node) => byHand.get(n.path) ?? (above.has(n.path) || n.inclusive_ns >= closedBelow * total)
  const hidden = useMemo(() => {
    const out = new Set<Node>()
    let below = Infinity // depth of a node that is closed
    for (const n of nodes) {
      if (n.depth > below) out.add(n)
      else below = n.children && !open(n) ? n.depth : Infinity
    }
    return (n: Node) => out.has(n)
  }, [nodes, byHand, total, above])
  const toggle = (n: Node) => setByHand(old => new Map(old).set(n.path, !open(n)))
  const { answer } = p
  const ranks = useMemo(() => {
    if (answer && !view.select && !metric && view.path === answer.path) return answer.times
    const below = view.path < 0 ? null : model.below(view.path)
    return below || metric ? model.byRow(from, to, wanted.map((w, a) => below && !below[a] ? 0 : w)) : null
  }, [model, view.path, wanted, from, to, answer])
  const cells = useMemo(() => ({ region: (n: Node) => <span class="node" style={{ paddingLeft: `${indent(n.depth)}px` }}>
    {n.children ? <button class="plain fold" aria-expanded={open(n)} aria-label={`What ${n.region} calls`} onClick={e => { e.stopPropagation(); toggle(n) }} onKeyDown={e => e.stopPropagation()}>{open(n) ? '▾' : '▸'}</button> : folds && <span class="fold" />}
    {n.region} <span class="faint">{model.where(n.path)}</span></span> }), [model, total, byHand, folds, above])
  const extra = useMemo((): Column<Node>[] => cost ? [{ name: `${cost.name.replace(/ \[.*\]$/, '')}, whole run`, title: term(cost.name) || cost.name, value: n => n.metric, bar: true,
    show: n => cost.unit === 'ns' ? time(n.metric) : `${amount(n.metric)} ${cost.unit === '#' ? '' : cost.unit}` }] :
    present.length ? [{ name: metric && metric !== 'waiting' ? metric : 'Waiting', title: term('wait state'), value: n => n.metric, show: n => time(n.metric), bar: true }] : [], [present, metric, cost])
  return <div class="pair">
    <div>
      <div class="tools">
        {present.length + costs.length > 0 && <label>Metric <select value={cost ? cost.name : metric} onChange={e => change({ metric: e.currentTarget.value })}>
          <option value="">time</option>{present.length > 0 && <option value="waiting">all waiting</option>}{[...present, ...costs.map(c => c.name)].map(w => <option value={w}>{w}</option>)}</select></label>}
        {folds && <span class="keys"><button onClick={() => setByHand(new Map(nodes.map(n => [n.path, true])))}>Open all</button><button onClick={() => setByHand(new Map(nodes.map(n => [n.path, false])))}>Close all</button></span>}
      </div>
      <Described doc={p.doc} table="call_tree" selected caption={view.select ? undefined : ''} sort="" cells={cells} extra={extra} rows={nodes} hidden={hidden} first={40}
        chosen={n => n.path === view.path} choose={n => change({ path: n.path === view.path ? -1 : n.path, place: -1 })} />
    </div>
    <div>{ranks ? <Ranks {...p} times={ranks} title={ranks === answer?.times ? `${answer.what}, by row` : [metric, view.path >= 0 && `${model.names[view.path]} and below`].filter(Boolean).join(' in ') + ', by row'} /> :
      <p class="faint">Choose a call path, here or in the timeline, and see its time on every rank.</p>}</div>
  </div>
}

// amount writes what a counter has counted.
function amount(n: number): string {
  for (const [size, prefix] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M']] as [number, string][]) {
    if (Math.abs(n) >= size) return `${(n / size).toPrecision(4)} ${prefix}`
  }
  return count(Math.round(n))
}

// counted returns, by activity, whether its time is of a metric.
function counted(model: Model, metric: string): Uint8Array {
  const { activities, waits } = model.head
  return Uint8Array.from(activities, ([, w]) => metric === '' || w > 0 && (metric === 'waiting' || waits[w] === metric) ? 1 : 0)
}

// indent is how far to the right a node of the call tree stands, px: deep ones hardly more than
// those above, so that there is room for their names.
function indent(depth: number): number { return Math.min(depth, 10) * 14 + Math.max(depth - 10, 0) * 3 }

// tree returns the call paths with time, from the outermost on. The metric is that of the wanted activities, or a
// cost by its number; -1: none.
function tree(model: Model, sums: Float64Array, wanted: Uint8Array, cost: number): Node[] {
  const { paths, activities } = model.head
  const own = new Float64Array(paths.length), metric = new Float64Array(paths.length)
  activities.forEach(([p], a) => { if (p >= 0) { own[p] += sums[a]; if (wanted[a] && cost < 0) metric[p] += sums[a] } })
  if (cost >= 0) for (const c of model.head.costs.rows) metric[c[0]] += c[cost + 1] ?? 0
  const all = own.slice(), total = own.reduce((s, t) => s + t, 0)
  for (let p = paths.length - 1; p >= 0; p--) if (paths[p][0] >= 0) { all[paths[p][0]] += all[p]; metric[paths[p][0]] += metric[p] }
  const children = new Map<number, number[]>()
  paths.forEach(([parent], p) => { if (all[p] > 0) { const c = children.get(parent); if (c) c.push(p); else children.set(parent, [p]) } })
  const out: Node[] = []
  const visit = (parent: number, depth: number) => {
    for (const p of (children.get(parent) ?? []).sort((a, b) => all[b] - all[a] || a - b)) {
      out.push({ path: p, region: model.names[p], depth, exclusive_ns: own[p], inclusive_ns: all[p], share: total > 0 ? all[p] / total : null, metric: metric[p], children: depth < deepest && children.has(p) })
      if (depth < deepest) visit(p, depth + 1)
    }
  }
  visit(-1, 0)
  return out
}

// deepest bounds the recursion.
const deepest = 200
