// The stack of one row as levels: a lane for each depth of calls, and one below for wait states.

import type { Header, Lane } from './data'
import type { Coloring } from './model'

// mostLevels bounds how many levels are shown; what lies deeper is left out.
const mostLevels = 200

// stackOf returns what an activity is as levels, from the outermost call inwards. Kinds are 0, nothing; a call path p, p + 1; and
// behind all paths wait state w, paths + w.
function stackOf({ activities, paths, waits }: Header, activity: number): number[] {
  const [path, wait] = activities[activity], all: number[] = []
  for (let p = path; p >= 0; p = paths[p][0]) all.push(p + 1)
  const stack = all.reverse().slice(0, mostLevels)
  if (wait > 0 && wait < waits.length) stack.push(paths.length + wait)
  return stack
}

const known = new WeakMap<Lane, Lane[]>()

// levelLanes divides a lane into levels, from the outermost calls inwards. Visits of one path that follow each other at once are
// one run.
export function levelLanes(head: Header, lane: Lane): Lane[] {
  let lanes = known.get(lane)
  if (!lanes) known.set(lane, lanes = divided(head, lane))
  return lanes
}

function divided(head: Header, lane: Lane): Lane[] {
  const stacks: number[][] = [] // by activity
  const out: { start: number[]; kind: number[] }[] = []
  for (let i = 0; i < lane.kind.length; i++) {
    const stack = stacks[lane.kind[i]] ??= stackOf(head, lane.kind[i]), at = lane.start[i]
    while (out.length < stack.length) out.push(at > lane.start[0] ? { start: [lane.start[0]], kind: [0] } : { start: [], kind: [] })
    let inside = true // the call around goes on
    for (let level = 0; level < out.length; level++) {
      const { start, kind } = out[level], now = stack[level] ?? 0
      if (inside && kind.length && kind[kind.length - 1] === now) continue
      if (kind.length && kind[kind.length - 1] === 0 && now === 0) continue
      inside = false
      start.push(at)
      kind.push(now)
    }
  }
  const end = lane.start[lane.kind.length]
  return out.map(({ start, kind }) => ({ start: Float64Array.from([...start, end]), kind: Uint32Array.from(kind), step: lane.step }))
}

// depths returns how many levels each activity has.
export function depths(head: Header): Uint32Array { return Uint32Array.from(head.activities, (_, a) => stackOf(head, a).length) }

// levelColors returns the colors of the kinds of levels, and levelLit which of them are lit where activities are.
export function levelColors(coloring: Coloring): Uint32Array {
  const out = new Uint32Array(1 + coloring.paths.length + coloring.waits.length)
  out.set(coloring.paths, 1)
  out.set(coloring.waits.subarray(1), 1 + coloring.paths.length)
  return out
}

export function levelLit({ activities, paths, waits }: Header, lit: Uint8Array | null): Uint8Array | null {
  if (!lit) return null
  const out = new Uint8Array(1 + paths.length + waits.length)
  activities.forEach(([path, wait], a) => { if (lit[a]) { out[path + 1] = 1; if (wait > 0) out[paths.length + wait] = 1 } })
  return out
}
