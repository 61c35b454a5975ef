// The stack of one row as levels: a lane for each depth of calls, and one below for wait states.

import type { Lane } from './data'
import type { Coloring, Model } from './model'

// mostLevels is how many levels are shown; what lies deeper counts to the last one.
export const mostLevels = 30

// Levels are lanes of one row from the outermost calls inwards. Their kinds are 0, nothing; a call path p, p + 1; and
// behind all paths wait state w, paths + w.
export interface Levels { lanes: Lane[]; deeper: boolean }

// levelsOf divides a lane into levels. Visits of one path that follow each other at once are one run.
export function levelsOf(model: Model, lane: Lane): Levels {
  const { activities, paths, waits } = model.head
  const stacks = new Map<number, number[]>() // by activity
  let deeper = false
  const stackOf = (activity: number) => {
    let stack = stacks.get(activity)
    if (!stack) {
      const [path, wait] = activities[activity], all: number[] = []
      for (let p = path; p >= 0; p = paths[p][0]) all.push(p + 1)
      stack = all.reverse().slice(0, mostLevels)
      deeper ||= all.length > mostLevels
      if (wait > 0 && wait < waits.length) stack.push(paths.length + wait)
      stacks.set(activity, stack)
    }
    return stack
  }
  const out: { start: number[]; kind: number[] }[] = []
  for (let i = 0; i < lane.kind.length; i++) {
    const stack = stackOf(lane.kind[i]), at = lane.start[i]
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
  return { lanes: out.map(({ start, kind }) => ({ start: Float64Array.from([...start, end]), kind: Uint32Array.from(kind), step: lane.step })), deeper }
}

// levelColors returns the colors of the kinds of levels.
export function levelColors(coloring: Coloring): Uint32Array {
  const out = new Uint32Array(1 + coloring.paths.length + coloring.waits.length)
  out.set(coloring.paths, 1)
  out.set(coloring.waits.subarray(1), 1 + coloring.paths.length)
  return out
}
