// Whom a visit communicates with, and on whom it waits, as far as the page's timeline tells.

import { indexAt, type Detail, type Lane } from './data'
import type { Hit } from './canvas'
import type { Model } from './model'
import { bytes, count, instant, time } from './units'

// most is how many messages of a visit are named.
const most = 4

// A Partner is said in a line; row is what the other does it on, at when.
export interface Partner { text: string; row?: number; at?: number }

// partners says which messages a visit sends and receives, and of which collective it is a part. In front stands the last that
// came: a visit that waits does so for it.
export function partners(model: Model, detail: Detail | null, { row, lane, run }: Hit): Partner[] {
  const { activities } = model.head, [path, wait] = activities[lane.kind[run]]
  if (path < 0 || lane.step > 1) return []
  const [from, to] = visit(model, lane, run)
  const { messages, collectives } = { messages: detail?.messages ?? model.timeline.messages, collectives: (detail ?? model.timeline).collectives }
  const grain = (to - from) / 10
  const name = (r: number) => model.rowName(r)
  // doing says what a row did most of, while this one waited for it.
  const doing = (r: number, until: number) => {
    const most = wait > 0 ? mostOf(model, (detail ?? model.timeline).lanes[r], lane.start[run], Math.min(lane.start[run + 1], until)) : -1
    return most >= 0 ? `, meanwhile in ${model.names[most]}` : ''
  }
  const operation = model.head.paths[path][1]
  // Which rows are members is not told: of communicators beside one another it may be either.
  const [together, other] = collectives.filter(c => c.operation === operation && c.first <= row && row <= c.last && c.begin <= from && from <= c.latestBegin && c.end >= to)
  if (together && !other) {
    const { root, sent, received } = together
    const what = [communicator(model, together.comm), `${count(together.members)} rows`, root >= 0 && `root ${name(root)}`, sent + received > 0 && `they send ${bytes(sent)}, receive ${bytes(received)}`]
    return [together.latest === row ? { text: `the last to come, ${time(together.latestBegin - together.begin)} after the first` } :
      { text: `last to come: ${name(together.latest)}, at ${instant(together.latestBegin, grain, together.latestBegin)}${doing(together.latest, together.latestBegin)}`, row: together.latest, at: together.latestBegin - 1 }, { text: what.filter(Boolean).join(', ') }]
  }
  const lines: (Partner & { at: number })[] = []
  let n = 0
  for (let i = 0; i < messages.sent.length; i++) {
    const sends = messages.from[i] === row && messages.sent[i] >= from && messages.sent[i] <= to
    if (!sends && !(messages.to[i] === row && messages.done[i] >= from && messages.done[i] <= to)) continue
    n++
    const at = messages.sent[i], how = [`tag ${messages.tag[i]}`, model.head.comms.length > 1 && communicator(model, messages.comm[i])].filter(Boolean).join(', ')
    lines.push(sends ? { at: messages.done[i], row: messages.to[i], text: `${bytes(messages.bytes[i])} to ${name(messages.to[i])}, ${how}, received at ${instant(messages.done[i], grain, messages.done[i])}${doing(messages.to[i], messages.done[i])}` } :
      { at, row: messages.from[i], text: `${bytes(messages.bytes[i])} from ${name(messages.from[i])}, ${how}, sent at ${instant(at, grain, at)}${doing(messages.from[i], at)}` })
  }
  lines.sort((a, b) => b.at - a.at)
  return n > most ? [...lines.slice(0, most), { text: `and ${n - most} more messages` }] : lines
}

// communicator names one.
export function communicator(model: Model, comm: number): string { return model.head.comms[comm] || `communicator ${comm}` }

// visit returns from when until when the call that a run is a part of lasts.
function visit(model: Model, { start, kind }: Lane, run: number): [number, number] {
  const { activities, paths } = model.head, path = activities[kind[run]][0]
  const inside = (i: number) => {
    for (let p = activities[kind[i]][0]; p >= path; p = paths[p][0]) if (p === path) return true
    return false
  }
  let first = run, last = run
  while (first > 0 && inside(first - 1)) first--
  while (last + 1 < kind.length && inside(last + 1)) last++
  return [start[first], start[last + 1]]
}

// mostOf returns the path in which a row spends most of a stretch of time, -1: none.
function mostOf(model: Model, { start, kind }: Lane, from: number, to: number): number {
  const sums = new Map<number, number>()
  let best = -1
  for (let i = kind.length ? indexAt({ start, kind }, from) : 0; i < kind.length && start[i] < to; i++) {
    const [path] = model.head.activities[kind[i]], sum = (sums.get(path) ?? 0) + Math.min(start[i + 1], to) - Math.max(start[i], from)
    sums.set(path, sum)
    if (sum > (sums.get(best) ?? 0)) best = path
  }
  return best
}
