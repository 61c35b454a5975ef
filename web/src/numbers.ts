// The timeline's numbers, decoded into few arrays, which go from one thread to another without a copy.

import type { Messages } from './data'
import { Reader } from './reader'

// A Tally says what rows do over the whole run: entries of[row] to of[row + 1] are the activities that the row has, with their time, the
// begin of their first run and the end of their last, ns.
export interface Tally { of: Uint32Array; kind: Uint32Array; ns: Float64Array; begin: Float64Array; end: Float64Array }

export interface Numbers {
  of: Uint32Array     // by row: its first run; at the end, how many runs there are
  start: Float64Array // of each run; the runs of each row are followed by the end of the run
  kind: Uint32Array   // activity of each run
  tally: Tally
  messages: Messages
  sent: Float64Array  // times of messages in order
  rest: Uint8Array    // collectives and the critical path, still encoded
}

// decode reads what Timeline.numbers writes, of a run of a length and rows with their steps (ns). Times stay exact up to 2^53 ns, which is 104 days.
export function decode(bytes: Uint8Array, length: number, steps: Float64Array): Numbers {
  const r = new Reader(bytes), rows = steps.length, of = new Uint32Array(rows + 1), starts: Float64Array[] = []
  for (let row = 0; row < rows; row++) {
    const n = r.unsigned(), start = r.fill(new Float64Array(n)), step = steps[row]
    for (let i = 0, t = 0; i < n; i++) {
      const runs = start[i]
      start[i] = Math.min(t, length)
      t += runs * step
    }
    of[row + 1] = of[row] + n
    starts.push(start)
  }
  const start = new Float64Array(of[rows] + rows).fill(length), kind = r.fill(new Uint32Array(of[rows]))
  starts.forEach((s, row) => start.set(s, of[row] + row))
  const messages = r.messages()
  return { of, start, kind, tally: tallied(of, start, kind), messages, sent: messages.sent.slice().sort(), rest: r.rest() }
}

function tallied(of: Uint32Array, start: Float64Array, kind: Uint32Array): Tally {
  let most = 1
  for (let i = 0; i < kind.length; i++) most = Math.max(most, kind[i] + 1)
  const ns = new Float64Array(most), begin = new Float64Array(most).fill(-1), end = new Float64Array(most)
  const rows = of.length - 1, first = new Uint32Array(rows + 1), kinds: number[] = [], all: number[] = []
  for (let row = 0; row < rows; row++) {
    for (let i = of[row]; i < of[row + 1]; i++) {
      const k = kind[i], from = start[i + row], to = start[i + row + 1]
      if (begin[k] < 0) { begin[k] = from; kinds.push(k) }
      ns[k] += to - from
      end[k] = to
    }
    for (let i = first[row]; i < kinds.length; i++) { const k = kinds[i]; all.push(ns[k], begin[k], end[k]); ns[k] = 0; begin[k] = -1 }
    first[row + 1] = kinds.length
  }
  const column = (c: number) => Float64Array.from(kinds, (_, i) => all[3 * i + c])
  return { of: first, kind: Uint32Array.from(kinds), ns: column(0), begin: column(1), end: column(2) }
}

// buffers returns the memory of the arrays in an object.
export function buffers(x: object): ArrayBuffer[] {
  return Object.values(x).flatMap(v => ArrayBuffer.isView(v) ? [v.buffer as ArrayBuffer] : buffers(v))
}
