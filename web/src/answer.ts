// Where a cause is seen: which rows are to blame, who waits for them, and when it is worst.

import type { Document } from './data'
import type { Model } from './model'

// An Instance is one time that a cause is at work on a row; weight is what it costs there, ns.
export interface Instance { row: number; from: number; to: number; weight: number }

export interface Answer {
  lit: Uint8Array         // activities that it is about
  path: number            // the call path with most of it, -1: none
  what: string            // what times are of
  counts: Uint8Array      // activities whose time is what counts
  times: Float64Array     // by row, of the whole run
  culprits: number[]      // rows, the worst first
  named: boolean          // the analysis names their ranks: it is always they
  instances: Instance[]   // the worst first
  idle: boolean           // culprits are those during which the rows of instances have no work
}

// The worst instances are those of at least this share of the very worst; kept are so many at most.
const heavy = 0.1, kept = 1000

// answerTo finds a cause of the diagnosis in the timeline; null: there is nothing of it.
export function answerTo(model: Model, doc: Document, cause: Document): Answer | null {
  if (cause.kind === 'device_idle' || cause.kind === 'data_loading') return idleDevices(model, cause)
  if (cause.evidence?.collective_wait_ns !== undefined && cause.ranks?.length) return lateRanks(model, cause.ranks)
  const lit = placed(model, cause)
  if (lit.includes(1)) return { ...visited(model, cause, lit), ...computing(model, doc, cause) }
  if (cause.kind === 'startup') return unrecorded(model, 'Before the first event', true)
  if (cause.kind === 'thread_idle') return ofThreads(model, doc.threads?.rows ?? [], cause.evidence ?? {})
  return cause.ranks?.length && !cause.operation ? unrecorded(model, 'Outside calls', false, undefined, cause.ranks) : null // of what no call tells
}

// lateRanks is about ranks that come late to collectives of devices: an instance is a wait of another one. That waits least is the worst.
function lateRanks(model: Model, late: number[]): Answer | null {
  const { head } = model, waiting = Uint8Array.from(head.activities, ([, w]) => w > 0 ? 1 : 0), times = model.byRow(0, head.length_ns, waiting), rows = head.rows.map((_, r) => r)
  const waits = (rank: number) => rows.reduce((sum, r) => head.rows[r].rank === rank ? sum + times[r] : sum, 0)
  const instances = heaviest(add => { for (const r of rows) if (times[r] > 0 && !late.includes(head.rows[r].rank)) visits(model, r, waiting, waiting, add) })
  const culprits = [...late].sort((a, b) => waits(a) - waits(b)).flatMap(rank => rows.filter(r => head.rows[r].master && head.rows[r].rank === rank))
  return instances.length ? { lit: waiting, path: -1, counts: waiting, what: 'Waiting', times, culprits, named: true, instances, idle: true } : null
}

// computing is what the ranks of a run that is inefficient are named for, where they are: its place is that of the calls to shorten.
function computing({ head }: Model, { efficiency }: Document, { kind, ranks }: Document): Partial<Answer> {
  const useful: number[] | undefined = (efficiency?.without_init_finalize ?? efficiency)?.useful_ns
  return kind === 'inefficient' && ranks?.length && useful ? { what: 'Computing', times: Float64Array.from(head.rows, r => r.master && useful[r.rank] || 0) } : {}
}

// visited is about calls or regions that are in the timeline.
function visited(model: Model, cause: Document, lit: Uint8Array): Answer {
  const { head } = model
  // What calls cost beside their waits, where it is not waits that make them cost.
  const costs = cause.kind === 'slow_calls' || cause.kind === 'transfer' ? lit.map((on, a) => on && head.activities[a][1] === 0 ? 1 : 0) : lit
  const wanted = costs.includes(1) ? costs : lit, times = model.byRow(0, head.length_ns, wanted)
  const ranks = new Set<number>(cause.ranks ?? [])
  const rows = head.rows.map((_, r) => r).filter(r => times[r] > 0 && (!ranks.size || ranks.has(head.rows[r].rank)))
  const among = rows.length ? rows : head.rows.map((_, r) => r).filter(r => times[r] > 0)
  const path = mostOf(model.timeByPath(wanted, among))
  const inside = new Uint8Array(head.paths.length)
  head.activities.forEach(([p], a) => { if (p >= 0 && lit[a]) inside[p] = 1 })
  head.paths.forEach(([parent], p) => { if (parent >= 0 && inside[parent]) inside[p] = 1 })
  const within = Uint8Array.from(head.activities, ([p]) => p >= 0 ? inside[p] : 0)
  return {
    lit, path, counts: wanted, times, what: model.names[path], culprits: byTime(times, among), named: ranks.size > 0 && rows.length > 0, idle: false,
    instances: heaviest(add => { for (const r of among) visits(model, r, within, wanted, add) }),
  }
}

// visits finds the stretches of a row within a place; its own time is what counts. Of a place that lasts for most of the
// run it is the pieces of its own time.
function visits(model: Model, row: number, within: Uint8Array, wanted: Uint8Array, add: (i: Instance) => void) {
  const { start, kind } = model.timeline.lanes[row], most = model.head.length_ns / 4
  const pieces = (first: number, end: number, of: Uint8Array) => {
    for (let i = first; i < end;) {
      if (!of[kind[i]]) { i++; continue }
      const begin = i
      let weight = 0
      for (; i < end && of[kind[i]]; i++) if (wanted[kind[i]]) weight += start[i + 1] - start[i]
      if (of !== wanted && start[i] - start[begin] > most) pieces(begin, i, wanted)
      else if (weight > 0) add({ row, from: start[begin], to: start[i], weight })
    }
  }
  pieces(0, kind.length, within)
}

// unrecorded is about stretches of rows in which nothing is recorded, before their first call or between calls. Times may be known
// better than from these; then those of the row with most of it are shown.
function unrecorded(model: Model, what: string, before: boolean, known?: Float64Array, ranks?: number[]): Answer | null {
  const { head, timeline } = model, among = new Set(ranks), all = head.rows.map((_, r) => r).filter(r => !ranks || head.rows[r].master && among.has(head.rows[r].rank)), nothing = new Uint8Array(head.activities.length).fill(1, 0, 1)
  const gaps = (row: number): Instance[] => {
    const { start, kind } = timeline.lanes[row], called = Array.from(kind, k => head.activities[k][0] >= 0), first = called.indexOf(true), last = called.lastIndexOf(true)
    return first < 0 || head.rows[row].device ? [] : called.flatMap((on, i) => !on && (before ? i < first : first < i && i < last) ? [{ row, from: start[i], to: start[i + 1], weight: start[i + 1] - start[i] }] : [])
  }
  const times = known ?? new Float64Array(head.rows.length)
  if (!known) for (const r of all) times[r] = gaps(r).reduce((sum, g) => sum + g.weight, 0)
  const culprits = byTime(times, all).filter((r, _, [worst]) => !known || times[r] >= 0.8 * times[worst])
  const instances = heaviest(add => { for (const r of known ? culprits.slice(0, 1) : culprits) gaps(r).forEach(add) })
  return culprits.length ? { lit: nothing, path: -1, counts: nothing, what, times, culprits, named: known !== undefined || ranks !== undefined, instances, idle: false } : null
}

// ofThreads is about what threads do that is no region: the analysis knows of each how long.
function ofThreads(model: Model, threads: Document[], evidence: Document): Answer | null {
  const [taken, what] = 'fork_join_ns' in evidence ? ['scheduling_ns', 'Forking and joining'] : 'serial_ns' in evidence || 'serial_efficiency' in evidence ? ['serial_ns', 'Serial work'] : ['idle_ns', 'Without work']
  const key = (rank: number, first: boolean, name: string) => first ? `${rank}` : `${rank} ${name}`, of = new Map(threads.map(t => [key(t.rank, t.thread === 0, t.name), t]))
  const times = Float64Array.from(model.head.rows, row => of.get(key(row.rank, row.master, row.name))?.[taken] ?? 0)
  return unrecorded(model, what, false, times)
}

// byTime returns rows with time, the one with most of it first.
function byTime(times: Float64Array, rows: number[]): number[] { return rows.filter(r => times[r] > 0).sort((a, b) => times[b] - times[a] || a - b) }

// idleDevices is about devices without work, while hosts do what the cause names. An instance is a gap between what a device
// does on all its streams; what counts is what hosts do meanwhile that is named, if anything is.
function idleDevices(model: Model, cause: Document): Answer | null {
  const { head, timeline } = model, rows = head.rows.map((_, r) => r), ranks = new Set<number>(cause.ranks ?? [])
  const streams = rows.filter(r => head.rows[r].device && (!ranks.size || ranks.has(head.rows[r].rank))), hosts = rows.filter(r => !head.rows[r].device)
  const named = placed(model, cause), known = named.includes(1), idle = new Float64Array(rows.length)
  const meanwhile = (from: number, to: number) => hosts.reduce((sum, r) => sum + model.timeIn(r, named, from, to), 0)
  const wanted = new Set(streams), instances = heaviest(add => {
    for (const of of model.devices().values()) {
      if (!wanted.has(of[0])) continue
      let until = Infinity
      for (const [from, to] of model.busyTimes(of)) {
        if (from > until) {
          for (const r of of) idle[r] += from - until
          add({ row: of[0], from: until, to: from, weight: known ? meanwhile(until, from) : from - until })
        }
        until = until === Infinity ? to : Math.max(until, to)
      }
    }
  })
  if (!instances.length) return null
  const busy = new Uint8Array(head.activities.length)
  for (const r of streams) for (const k of timeline.lanes[r].kind) if (model.works(k)) busy[k] = 1
  const lit = named.map((on, a) => on || busy[a] ? 1 : 0)
  if (!known) return { lit, path: -1, counts: named, what: 'Idle between its work', times: idle, culprits: byTime(idle, streams), named: false, instances, idle: true }
  const times = model.byRow(0, head.length_ns, named), culprits = byTime(times, hosts), path = mostOf(model.timeByPath(named, culprits))
  return { lit, path, counts: named, what: model.names[path], times, culprits, named: false, instances, idle: true }
}

// placed returns the activities that a cause names: where it says, or else all calls of what it names.
export function placed(model: Model, { region, file, line, operation }: Document): Uint8Array {
  const all = [model.at({ region, file, line, operation }), ...operation ? [model.at({ operation })] : [], model.at({ region })]
  return all.find(lit => lit.includes(1)) ?? all[0]
}

const mostOf = (times: Float64Array) => times.reduce((best, t, k) => t > times[best] ? k : best, 0)

// heaviest gathers instances, and keeps the heaviest.
function heaviest(gather: (add: (i: Instance) => void) => void): Instance[] {
  let all: Instance[] = []
  const cut = () => { all = all.sort((a, b) => b.weight - a.weight || a.from - b.from || a.row - b.row).slice(0, kept) }
  gather(i => { if (i.weight > 0 && all.push(i) > 4 * kept) cut() })
  cut()
  return all.filter(i => i.weight >= heavy * all[0].weight)
}

// windowOf returns the stretch of time that shows an instance, with some of what is around it.
export function windowOf(model: Model, { row, from, to }: Instance): [number, number] {
  const length = model.head.length_ns, span = to - from, around = Math.max(Math.min(0.4 * span, 0.1 * (length - span)), 25 * model.timeline.lanes[row].step, (1000 - span) / 2)
  return [Math.max(from - around, 0), Math.min(to + around, length)]
}

// ranksOf returns what stands by rank: of ranks that the analysis names what they take in the run, else what each takes in the instance.
export function ranksOf(model: Model, answer: Answer, instance: Instance | undefined): { times: Float64Array; title: string } {
  const once = instance && !answer.named && !answer.idle
  return { times: once ? model.byRow(instance.from, instance.to, answer.counts) : answer.times, title: `${answer.what}${once ? ' in this instance' : ''}, by row` }
}

// pinsOf returns the rows that an instance is about: that to blame first, then who waits for it.
export function pinsOf(model: Model, answer: Answer, instance: Instance | undefined): { culprits: number[]; victims: number[] } {
  const { head } = model, culprits = answer.idle || !instance ? answer.culprits.slice(0, 2) : [...new Set([instance.row, ...answer.culprits])].slice(0, answer.named ? 3 : 1)
  if (!instance) return { culprits, victims: [] }
  const waiting = Uint8Array.from(head.activities, ([, w]) => w > 0 ? 1 : 0), waits = model.byRow(instance.from, instance.to + (instance.to - instance.from) / 10, waiting)
  const victims = head.rows.map((_, r) => r).filter(r => waits[r] > 0 && !culprits.includes(r)).sort((a, b) => waits[b] - waits[a] || a - b).slice(0, 3)
  return { culprits, victims: answer.idle && !culprits.includes(instance.row) ? [...new Set([instance.row, ...victims])].slice(0, 3) : victims }
}
