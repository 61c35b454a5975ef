// Metric × call paths × ranks, of the selected stretch of time: three panes that go together.

import { h, Fragment } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { textOn } from './canvas'
import { signed } from './curves'
import { useDark } from './dark'
import { Flame } from './flame'
import { Ranks } from './grids'
import { Signs } from './heatmap'
import type { Model } from './model'
import { Described } from './described'
import { callers, inOther, timesOf, tree, type Node } from './paths'
import { same } from './runs'
import { span, type SectionProps } from './sections'
import type { Column } from './table'
import { term } from './terms'
import { count, share, signedTime, time } from './units'
import { shapes, type View } from './view'

// closedBelow is the share of all time below which what is called by a path is hidden at first.
const closedBelow = 0.01

const shapeNames: Record<View['shape'], string> = { tree: 'Call tree', flame: 'Flame graph', callers: 'Callers' }

export function CallTree(p: SectionProps) {
  const { model, view, change, answer, coloring } = p, { head } = model
  const [from, to] = span(p)
  const sums = useMemo(() => model.sums(from, to, model.timeline.lanes.map((_, i) => i)), [model, from, to])
  const present = useMemo(() => head.waits.filter((_, k) => k > 0 && head.activities.some(([, w]) => w === k)), [model])
  const { names } = head.costs
  const costs = useMemo(() => names.filter((_, k) => head.costs.rows.some(c => c[k + 1])), [model])
  const cost = costs.find(c => c.name === view.metric), metric = view.metric === 'waiting' || present.includes(view.metric) ? view.metric : ''
  const wanted = useMemo(() => counted(model, metric), [model, metric])
  const times = useMemo(() => timesOf(model, sums, metric ? wanted : counted(model, 'waiting'), cost ? names.indexOf(cost) : -1), [model, sums, wanted, cost])
  const shape = view.shape
  const nodes = useMemo(() => shape === 'callers' ? callers(model, times) : tree(model, times), [model, times, shape === 'callers'])
  const total = times.own.reduce((s, t) => s + t, 0), folds = nodes.some(n => n.children)
  // What was opened or closed by hand; else it is what takes little that is closed.
  const [byHand, setByHand] = useState(new Map<string, boolean>())
  const above = useMemo(() => new Set(view.path < 0 ? [] : model.pathRegions(view.path).slice(0, -1)), [model, view.path])
  const open = (n: Node) => byHand.get(n.id) ?? (shape !== 'callers' && (above.has(n.path) || n.inclusive_ns >= closedBelow * total))
  const hidden = useMemo(() => {
    const out = new Set<Node>()
    let below = Infinity // depth of a node that is closed
    for (const n of nodes) {
      if (n.depth > below) out.add(n)
      else below = n.children && !open(n) ? n.depth : Infinity
    }
    return (n: Node) => out.has(n)
  }, [nodes, byHand, total, above])
  const setAll = (to: boolean) => setByHand(new Map(nodes.map(n => [n.id, to])))
  const toggle = (n: Node) => setByHand(old => new Map(old).set(n.id, !open(n)))
  const choose = (n: Node) => change({ path: n.paths.includes(view.path) ? -1 : n.path, place: -1 })
  const shown = useMemo(() => answer && !view.select && !metric && view.path === answer.path ? answer.ranks : ofRows(model, view.path, metric, wanted, from, to), [model, view.path, metric, wanted, from, to, answer])
  const others = useMemo(() => p.other && !view.select && !(answer && view.path === answer.path) ? ofRows(p.other.model, same(model, view.path, p.other.model), metric, counted(p.other.model, metric), 0, p.other.model.head.length_ns).times : undefined, [model, p.other, view.path, view.select, metric, answer])
  const cells = useMemo(() => ({ region: (n: Node) => <span class="node" style={{ paddingLeft: `${indent(n.depth)}px` }} title={n.paths.map(q => model.names[q]).join(' › ')}>
    {n.children ? <button class="plain fold" aria-expanded={open(n)} aria-label={`What ${n.region} ${shape === 'callers' ? 'is called by' : 'calls'}`} onClick={e => { e.stopPropagation(); toggle(n) }} onKeyDown={e => e.stopPropagation()}>{open(n) ? '▾' : '▸'}</button> : folds && <span class="fold" />}
    <span>{n.region} {!n.region.endsWith(`@${model.where(n.path)}`) && <span class="faint">{model.where(n.path)}</span>}</span></span> }), [model, nodes, byHand, folds, above])
  const { other } = p
  const there = useMemo(() => other && shape !== 'callers' && !view.select ? inOther(model, other.model) : null, [model, other, shape, view.select])
  const compared = useMemo((): Column<Node>[] => there ? [{ name: `In ${other!.letter}`, title: 'inclusive time of the same path there', value: n => there[n.paths[0]], show: n => time(there[n.paths[0]]) },
    { name: `${other!.own} − ${other!.letter}`, title: 'difference of inclusive times', value: n => n.inclusive_ns - there[n.paths[0]], show: n => signedTime(n.inclusive_ns - there[n.paths[0]]) }] : [], [there])
  const extra = useMemo((): Column<Node>[] => {
    const title = metric && metric !== 'waiting' ? metric : 'Waiting'
    const own: Column<Node>[] = cost ? [{ name: `${cost.name.replace(/ \[.*\]$/, '')}, whole run`, title: term(cost.name) || cost.name, value: n => n.metric, bar: true, show: n => amountOf(cost, n.metric) }] :
      present.length ? [{ name: title, title: term('wait state'), value: n => n.metric, show: n => time(n.metric), bar: true }] : []
    return [...compared, ...own]
  }, [present, metric, cost, compared])
  const value = useMemo(() => metric || cost ? (n: Node) => n.metric : (n: Node) => n.inclusive_ns, [metric, cost])
  // In the flame graph of one of several runs, paths have the color of their difference, unless those of their regions are wanted.
  const apart = (n: Node) => n.inclusive_ns - there![n.paths[0]], widest = there ? nodes.reduce((m, n) => Math.max(m, Math.abs(apart(n))), 1) : 1, signs = there && view.difference
  const dark = useDark()
  return <div class="panes">
    <Metrics {...p} sums={sums} total={total} present={present} costs={costs} />
    <div>
      <div class="tools" role="group" aria-label="Call paths as">{shapes.map(s => <button aria-pressed={s === shape} onClick={() => change({ shape: s })}>{shapeNames[s]}</button>)}
        {there && shape === 'flame' && <Fragment><label><input type="checkbox" checked={view.difference} onChange={e => change({ difference: e.currentTarget.checked })} /> Difference</label>{signs && <Signs own={other!.own} other={other!.letter} most={widest} dark={dark} />}</Fragment>}
        {folds && shape !== 'flame' && <span class="keys"><button onClick={() => setAll(true)}>Open all</button><button onClick={() => setAll(false)}>Close all</button></span>}</div>
      {shape === 'flame' ? <Flame nodes={nodes} value={value} color={n => signs ? { background: signed(apart(n) / widest, dark), color: 'var(--ink)' } : { background: coloring.css(n.path), color: textOn(coloring.paths[n.path]) }}
        also={there ? n => `; ${other!.own} − ${other!.letter}: ${signedTime(apart(n))}` : undefined} chosen={view.path} choose={choose} /> :
        <Described doc={p.doc} table="call_tree" selected caption={view.select ? undefined : ''} sort="" cells={cells} extra={extra} rows={nodes} hidden={hidden} first={40} chosen={n => n.paths.includes(view.path)} choose={choose} />}
    </div>
    <div><Ranks {...p} {...shown} wanted={wanted} counted={m => counted(m, metric)} others={others} /></div>
  </div>
}

// Metrics are what call paths and ranks can be looked at by, with what each comes to.
function Metrics({ model, view, change, sums, total, present, costs }: SectionProps & { sums: Float64Array; total: number; present: string[]; costs: { name: string; unit: string }[] }) {
  const { activities, waits, costs: { names, rows } } = model.head
  const of = (metric: string) => { const w = counted(model, metric); return sums.reduce((s, t, a) => s + (activities[a][0] >= 0 && w[a] ? t : 0), 0) }
  const all = [{ key: '', name: 'Time' }, ...present.length ? [{ key: 'waiting', name: 'All waiting' }] : [], ...present.map(w => ({ key: w, name: w }))].map(m => ({ ...m, time: of(m.key) }))
  const button = (key: string, name: string, what: any, title: string, part = 0) => <button class="plain metric" aria-pressed={view.metric === key} title={title} onClick={() => change({ metric: key })}>
    <span class="bar" style={{ width: `${100 * part}%` }} /><span>{name}</span><span class="value">{what}</span></button>
  return <div class="metrics" role="group" aria-label="Metrics">{all.filter(m => !m.key || m.time > 0).map(m => button(m.key, m.name, <Fragment>{time(m.time)} <small class="faint">{m.key && share(m.time / total)}</small></Fragment>, term(waits.includes(m.key) ? m.key : 'wait state'), m.key ? m.time / total : 0))}
    {costs.map(c => {
      const k = names.findIndex(n => n.name === c.name) + 1
      return button(c.name, c.name, amountOf(c, rows.reduce((sum, r) => sum + (r[k] ?? 0), 0)), `Of the whole run. ${term(c.name) || c.name}`)
    })}</div>
}

// ofRows returns what each row spends in a metric at and below a path.
function ofRows(model: Model, path: number, metric: string, wanted: Uint8Array, from: number, to: number): { times: Float64Array; title: string } {
  const below = path < 0 ? null : model.below(path), calls = wanted.map((w, a) => model.head.activities[a][0] < 0 || below && !below[a] ? 0 : w)
  return { times: model.byRow(from, to, calls), title: [metric || path < 0 && 'Time in calls', path >= 0 && `${model.names[path]} and below`].filter(Boolean).join(' in ') + ', by row' }
}

// amountOf writes what a counter has counted, or a time.
function amountOf({ unit }: { unit: string }, n: number): string {
  if (unit === 'ns') return time(n)
  const [size, prefix] = ([[1e12, 'T'], [1e9, 'G'], [1e6, 'M']] as const).find(([size]) => Math.abs(n) >= size) ?? [1, '']
  return `${size > 1 ? `${(n / size).toPrecision(4)} ${prefix}` : count(Math.round(n))} ${unit === '#' ? '' : unit}`
}

// counted returns, by activity, whether its time is of a metric.
function counted(model: Model, metric: string): Uint8Array {
  const { activities, waits } = model.head
  return Uint8Array.from(activities, ([, w]) => metric === '' || w > 0 && (metric === 'waiting' || waits[w] === metric) ? 1 : 0)
}

// indent is how far to the right a node of the call tree stands, px: deep ones hardly more than
// those above, so that there is room for their names.
function indent(depth: number): number { return Math.min(depth, 10) * 14 + Math.max(depth - 10, 0) * 3 }
