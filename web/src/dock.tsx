// What is chosen in the timeline, with all that is known of it and the ways to what it has to do with.

import { h, Fragment, type ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Answer, Instance } from './answer'
import { placed } from './answer'
import type { Hit, Joined } from './canvas'
import { indexAt, type Detail, type Document } from './data'
import type { Model } from './model'
import { more } from './more'
import { communicator, partners } from './partners'
import type { Phase } from './phasemarks'
import { brief, bytes, count, instant, share, time, unknown } from './units'
import { toggled, type View } from './view'

// What of the timeline is chosen: a call, a message, a collective or a row, and the finer timeline that it is of, if any.
export type Chosen = (Hit | Joined | { whole: number }) & { detail?: Detail | null }

// A chosen cause, with the rows that it is about in one of its instances; null: it has no place in the timeline.
export interface Shown { cause: Document; answer: Answer | null; instance?: Instance; culprits: number[]; victims: number[]; step: (way: 1 | -1) => void }

interface Props {
  doc: Document; model: Model; view: View; change: (v: Partial<View>) => void
  chosen: Chosen | null; tell: (c: Chosen | null) => void
  shown: Shown | null; choose: (cause: number) => void
  phases: Phase[]
  children: ComponentChildren // if nothing is chosen
}

type Fact = [name: string, what: ComponentChildren]

// pathOf returns the call path of a hit, -1: none.
export function pathOf(model: Model, { lane, run, level }: Hit): number {
  const { activities, paths } = model.head, kind = level ? level.lane.kind[level.run] : 0
  return !level || kind > paths.length ? activities[lane.kind[run]][0] : kind - 1
}

// waitOf returns the wait state of a hit, 0: none.
export function waitOf(model: Model, { lane, run, level }: Hit): number {
  return level ? Math.max(level.lane.kind[level.run] - model.head.paths.length, 0) : model.head.activities[lane.kind[run]][1]
}

// Dock is always as high, so that nothing moves when something is chosen.
export function Dock(p: Props) {
  const { model, chosen, shown, tell, choose, children } = p
  const [title, facts] = useMemo((): [ComponentChildren, Fact[]] => !chosen ? shown ? ofCause(p, shown) : [null, []] :
    'run' in chosen ? ofCall(p, chosen) : 'whole' in chosen ? ofRow(p, chosen.whole) : 'i' in chosen ? ofMessage(p, chosen) : ofCollective(p, chosen.collective, chosen.detail), [model, chosen, shown, p.view.pins, p.view.path])
  return <div role="region" aria-label="Details" class={title ? 'dock full' : 'dock'} tabIndex={0}>{title ? <Fragment>
    <div class="tools"><span role="status">{title}</span><button onClick={() => chosen ? tell(null) : choose(-1)}>Clear</button></div>
    <dl class="facts">{facts.map(([name, what]) => <div class={name === 'path' ? 'wide' : ''}><dt>{name}</dt><dd>{what}</dd></div>)}</dl></Fragment> : children}</div>
}

const span = (from: number, to: number) => `${instant(from, (to - from) / 10, to)} to ${instant(to, (to - from) / 10, to)}`

// row names a row, and pins it if it is not.
function row({ model, view, change }: Props, r: number): ComponentChildren {
  return <button class="plain link" title="Pin or unpin the row" aria-pressed={view.pins.includes(r)} onClick={() => change({ pins: toggled(view.pins, r) })}>{model.rowName(r)}</button>
}

// pathFact leads to each call around one.
function pathFact({ model, view, change }: Props, path: number): Fact[] {
  return path < 0 ? [] : [['path', model.pathRegions(path).slice(-12).map((q, k) => <Fragment>{k > 0 && ' › '}<button class="plain link" aria-pressed={view.path === q} onClick={() => change({ path: q, place: -1, tab: 'calls' })}>{model.names[q]}</button></Fragment>)]]
}

// causeLinks leads to the answers of the causes that fit.
function causeLinks({ doc, tell, choose }: Props, fits: (c: Document) => unknown): Fact[] {
  const all: Document[] = doc.diagnosis ?? [], causes = all.filter(fits)
  return causes.length ? [[causes.length > 1 ? 'causes' : 'cause', causes.map((c, i) => <Fragment>{i > 0 && ', '}<button class="plain link" onClick={() => { tell(null); choose(all.indexOf(c)) }}>{brief(c.headline)}</button></Fragment>)]] : []
}

// callAt leads to the call of a row at a time.
function callAt({ model, tell, change }: Props, r: number, t: number, detail?: Detail | null): ComponentChildren {
  const lane = (detail && detail.from <= t && t <= detail.to ? detail : model.timeline).lanes[r]
  if (!lane?.kind.length) return null
  const hit: Hit = { row: r, lane, run: indexAt(lane, t), time: t, level: null }, path = pathOf(model, hit)
  return path >= 0 && <Fragment> in <button class="plain link" onClick={() => { tell({ ...hit, detail }); change({ path, place: -1 }) }}>{model.names[path]}</button></Fragment>
}

function ofCall(p: Props, hit: Hit & Chosen): [ComponentChildren, Fact[]] {
  const { model, doc, change, phases } = p, { head, timeline } = model
  const path = pathOf(model, hit), wait = waitOf(model, hit), runs = hit.level ?? hit, from = runs.lane.start[runs.run], to = runs.lane.start[runs.run + 1], { step } = hit.lane
  const [innermost] = head.activities[hit.lane.kind[hit.run]], facts: Fact[] = [['on', row(p, hit.row)], ['time', <Fragment><b>{time(to - from)}</b>, {span(from, to)}{step > 1 && `, shown in steps of ${time(step)}`}</Fragment>]]
  const look = path < 0 ? null : head.regions[head.paths[path][1]]?.look, what = look && head.palette[look[head.rows[hit.row].device ? 2 : 0]]
  if (what) facts.push(['kind', what.title])
  for (const o of path === innermost ? partners(model, hit.detail ?? null, hit) : []) facts.push([wait > 0 ? 'waits for' : 'with', <Fragment>{o.text}{o.row !== undefined && <Fragment> <button class="plain link" onClick={() => change({ pins: [...new Set([hit.row, o.row!])] })}>pin both</button>{callAt(p, o.row, o.at!, hit.detail)}</Fragment>}</Fragment>])
  if (path >= 0) {
    const below = model.below(path), all = model.visits(below, head.rows.map((_, r) => r)).length, sum = below.reduce((s, on, a) => on ? s + model.activityTime[a] : s, 0)
    facts.push(['all calls', `${count(all)} of this path, ${time(sum)} together, ${time(sum / Math.max(all, 1))} each on average`])
    const where = model.where(path), at = model.line(path)
    if (where) facts.push(['source', (more(doc).sources ?? []).some(f => f.name === at?.file) ? <button class="plain link" onClick={() => change({ tab: 'source', file: `${at!.file}:${at!.line}` })}>{where}</button> : where])
  }
  const critical = timeline.critical.reduce((s, c) => c.row === hit.row ? s + Math.max(Math.min(c.to, to) - Math.max(c.from, from), 0) : s, 0)
  if (critical > 0) facts.push(['critical path', `${time(critical)} of it, ${share(critical / (to - from))}`])
  const phase = phases.find(o => o.from <= hit.time && hit.time < o.to)
  if (phase) facts.push(['phase', count(phase.number)])
  return [<Fragment><b>{path < 0 ? 'Nothing recorded' : model.names[path]}</b>{wait > 0 && <span class="wait"> {head.waits[wait]}</span>}</Fragment>, [...facts, ...causeLinks(p, c => placed(model, c)[hit.lane.kind[hit.run]]), ...pathFact(p, path)]]
}

function ofMessage(p: Props, { messages: m, i, detail }: Extract<Chosen, { i: number }>): [ComponentChildren, Fact[]] {
  return [<b>Message of {bytes(m.bytes[i])}</b>, [['from', <Fragment>{row(p, m.from[i])}{callAt(p, m.from[i], m.sent[i], detail)}, sent at {instant(m.sent[i], 1, m.sent[i])}</Fragment>],
    ['to', <Fragment>{row(p, m.to[i])}{callAt(p, m.to[i], m.done[i] - 1, detail)}, received at {instant(m.done[i], 1, m.done[i])}</Fragment>],
    ['time', <b>{time(m.done[i] - m.sent[i])}</b>], ['tag', count(m.tag[i])], ['communicator', communicator(p.model, m.comm[i])]]]
}

function ofCollective(p: Props, k: Extract<Joined, { collective: any }>['collective'], detail?: Detail | null): [ComponentChildren, Fact[]] {
  const { model } = p
  return [<b>{model.regionName(k.operation)}</b>, [['time', <Fragment><b>{time(k.end - k.begin)}</b>, {span(k.begin, k.end)}</Fragment>],
    ['last to come', <Fragment>{row(p, k.latest)}{callAt(p, k.latest, k.latestBegin - 1, detail)} before, {time(k.latestBegin - k.begin)} after the first</Fragment>], ['communicator', `${communicator(model, k.comm)}, ${count(k.members)} rows`],
    ...(k.root >= 0 ? [['root', row(p, k.root)] as Fact] : []), ...(k.sent + k.received > 0 ? [['bytes', `${bytes(k.sent)} sent, ${bytes(k.received)} received`] as Fact] : [])]]
}

function ofRow(p: Props, r: number): [ComponentChildren, Fact[]] {
  const { model } = p, { rows, activities, paths, regions, palette, length_ns: length } = model.head, of = rows[r], sums = model.sums(0, length, [r])
  const byClass = new Map<string, number>(), byName = new Map<string, number>(), add = (m: Map<string, number>, k: string, t: number) => m.set(k, (m.get(k) ?? 0) + t)
  sums.forEach((t, a) => {
    const [path, wait] = activities[a]
    if (t <= 0) return
    add(byClass, wait > 0 ? 'waiting' : path < 0 ? 'nothing recorded' : palette[regions[paths[path][1]]?.look[of.device ? 2 : 0] ?? 0].title, t)
    if (path >= 0) add(byName, model.names[path], t)
  })
  const told = (m: Map<string, number>) => [...m].sort((a, b) => b[1] - a[1]).slice(0, 5).map(([name, t]) => `${name} ${time(t)} (${share(t / length)})`).join(', ')
  const facts: Fact[] = [['row', row(p, r)], ['does', told(byClass)], ['most in', told(byName) || unknown]]
  if (of.node) facts.push(['node', of.node])
  if (of.device) facts.push(['device', of.device])
  return [<b>{model.rowName(r)}{of.rank >= 0 && of.master && of.name && !of.name.includes(`${of.rank}`) ? ` (${of.name})` : ''}</b>, [...facts, ...causeLinks(p, c => c.ranks?.includes(of.rank))]]
}

function ofCause(p: Props, { cause, answer, instance, culprits, victims, step }: Shown): [ComponentChildren, Fact[]] {
  const names = (all: number[]) => all.map((r, k) => <Fragment>{k > 0 && ', '}{row(p, r)}</Fragment>), facts: Fact[] = []
  if (!answer) facts.push(['place', 'This cause has no place in the timeline.'])
  else {
    if (instance) facts.push(['instance', <span class="keys"><button aria-label="Instance before" onClick={() => step(-1)}>◂</button> {count(answer.instances.indexOf(instance) + 1)} of {count(answer.instances.length)}: {time(instance.to - instance.from)} <button aria-label="Next instance" onClick={() => step(1)}>▸</button></span>])
    facts.push(['to blame', <span class="blamed">{names(culprits)}{answer.named && answer.culprits.length > culprits.length && ` and ${count(answer.culprits.length - culprits.length)} more`}</span>])
    if (victims.length) facts.push([answer.idle && !answer.named ? 'idle' : 'waiting', names(victims)])
  }
  facts.push(['saves', `${cause.gain_ns == null ? 'not known' : `at most ${time(cause.gain_ns)}${cause.gain_share == null ? '' : ` (${share(cause.gain_share)})`}`}`])
  return [<b>{brief(cause.headline)}</b>, [...facts, ...pathFact(p, answer?.path ?? -1)]]
}
