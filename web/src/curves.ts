// Curves of counters: step functions of time, as package page in Go encodes them.

import type { Header, Lane } from './data'
import { Reader } from './reader'

export interface Counter { name: string; unit: string; rate: boolean }

// A curve is what a counter of a row (-1: the sum over all) is: piece i lasts from start[i] to
// start[i+1]. NaN: it is not known. step is 1 if the pieces are as they were recorded, otherwise
// the length of cells, of which each piece holds the mean and the least and greatest values.
export interface Curve { counter: number; row: number; step: number; start: Float64Array; mean: Float32Array; min: Float32Array; max: Float32Array }

export function decodeCurves(bytes: Uint8Array, from: number, to: number): Curve[] {
  const r = new Reader(bytes)
  return Array.from({ length: r.unsigned() }, () => {
    const counter = r.unsigned(), row = r.unsigned() - 1, step = r.unsigned(), n = r.unsigned(), start = new Float64Array(n + 1)
    let at = from
    for (let i = 0; i < n; i++) start[i] = at += i ? r.unsigned() : r.signed()
    start[n] = to
    const mean = r.floats(n)
    return { counter, row, step, start, mean, min: step > 1 ? r.floats(n) : mean, max: step > 1 ? r.floats(n) : mean }
  })
}

// A stretch of curves, asked from the server.
export interface Stretch { from: number; to: number; curves: Curve[] }

export async function askCurves(address: string, counter: number, from: number, to: number, steps: number, signal: AbortSignal): Promise<Stretch> {
  from = Math.floor(from)
  to = Math.ceil(to)
  const answer = await fetch(`${address}curves?counter=${counter}&from=${from}&to=${to}&steps=${steps}`, { signal })
  if (!answer.ok) throw new Error(await answer.text())
  return { from, to, curves: decodeCurves(new Uint8Array(await answer.arrayBuffer()), from, to) }
}

// piece returns the piece of a curve that holds a time, -1 if none does.
export function piece({ start, mean }: Curve, t: number): number {
  let low = 0, high = mean.length
  if (!high || t < start[0] || t > start[high]) return -1
  while (low + 1 < high) {
    const mid = (low + high) >> 1
    if (start[mid] <= t) low = mid
    else high = mid
  }
  return low
}

// valueAt returns what curves add up to at a time, NaN if none is known there.
export function valueAt(curves: Curve[], t: number): number {
  let sum = NaN
  for (const c of curves) {
    const v = c.mean[piece(c, t)]
    if (v === v) sum = (sum === sum ? sum : 0) + v
  }
  return sum
}

// Columns are the mean, least and greatest values in equal parts of a stretch of time.
export interface Columns { mean: Float64Array; min: Float64Array; max: Float64Array }

export function columns(curve: Curve, from: number, to: number, n: number): Columns {
  const c: Columns = { mean: new Float64Array(n), min: new Float64Array(n).fill(Infinity), max: new Float64Array(n).fill(-Infinity) }
  const known = new Float64Array(n), per = n / (to - from)
  for (let i = Math.max(piece(curve, Math.max(from, curve.start[0])), 0); i < curve.mean.length && curve.start[i] < to; i++) {
    const v = curve.mean[i]
    if (v !== v) continue
    const x0 = Math.max((curve.start[i] - from) * per, 0), x1 = Math.min((curve.start[i + 1] - from) * per, n)
    for (let x = Math.floor(x0); x < x1; x++) {
      const part = Math.min(x + 1, x1) - Math.max(x, x0)
      known[x] += part
      c.mean[x] += part * v
      c.min[x] = Math.min(c.min[x], curve.min[i])
      c.max[x] = Math.max(c.max[x], curve.max[i])
    }
  }
  for (let x = 0; x < n; x++) c.mean[x] = known[x] > 0 ? c.mean[x] / known[x] : NaN
  return c
}

// added returns the columns of the sum of curves. Of several, least and greatest are those of means.
export function added(curves: Curve[], from: number, to: number, n: number): Columns {
  const parts = curves.map(c => columns(c, from, to, n))
  if (parts.length === 1) return parts[0]
  const mean = new Float64Array(n).fill(NaN)
  for (const p of parts) for (let x = 0; x < n; x++) if (p.mean[x] === p.mean[x]) mean[x] = (mean[x] === mean[x] ? mean[x] : 0) + p.mean[x]
  return { mean, min: mean, max: mean }
}

// extent returns least and greatest of the means that columns show, from 0 unless it is no rate and
// all lies far above it: what lasts for a moment alone must not flatten all the rest.
export function extent(all: Columns[], rate: boolean): [number, number] {
  let low = Infinity, high = -Infinity
  for (const c of all) {
    for (let x = 0; x < c.mean.length; x++) if (c.mean[x] === c.mean[x]) { low = Math.min(low, c.mean[x]); high = Math.max(high, c.mean[x]) }
  }
  if (!(low <= high)) return [0, 1]
  if (low > 0 && (rate || low < 0.8 * high)) low = 0
  return low === high ? [Math.min(low, 0), Math.max(high, 1)] : [low, high]
}

// quantity shows a value as people read it.
export function quantity(v: number, c: Counter): string {
  if (v !== v) return 'not known'
  const unit = c.rate ? `${c.unit === '#' ? '' : c.unit}/s` : c.unit === '#' ? '' : c.unit
  const size = Math.abs(v)
  const [scale, prefix] = ([[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']] as [number, string][]).find(([s]) => size >= s) ?? [1, '']
  const text = size > 0 && size < 1e-3 ? v.toExponential(3) : String(Number((v / scale).toPrecision(4)))
  return `${text} ${prefix}${unit}`.trim()
}

// Shades, dark for little and light for much, that every kind of color vision tells apart.
const anchors = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]]
export const levels = 48

function shade(share: number): number[] {
  const at = share * (anchors.length - 1), k = Math.min(Math.floor(at), anchors.length - 2)
  return anchors[k].map((v, i) => Math.round(v + (at - k) * (anchors[k + 1][i] - v)))
}

// shades are the colors, 0xAABBGGRR, of the lanes that shaded makes.
export const shades = Uint32Array.from({ length: levels + 1 }, (_, k) => {
  if (k === 0) return 0
  const [r, g, b] = shade((k - 1) / (levels - 1))
  return (0xff000000 | b << 16 | g << 8 | r) >>> 0
})

// signed is the color of a difference from -1, blue, by 0 to 1, orange: also told apart without red and green.
export function signed(v: number, dark: boolean): string {
  const end = v > 0 ? [230, 130, 0] : [30, 110, 220], none = dark ? [44, 53, 62] : [232, 235, 239], part = Math.min(Math.sqrt(Math.abs(v)), 1)
  return `rgb(${end.map((c, k) => Math.round(none[k] + part * (c - none[k]))).join()})`
}

export function css(share: number): string { return `rgb(${shade(share).join()})` }

// shaded makes lanes of curves, for the timeline to be colored by: kind 0 where a counter is not
// known, otherwise one of the levels from low to high.
export function shaded(head: Header, curves: Curve[], [low, high]: [number, number]): Lane[] {
  const lanes: Lane[] = head.rows.map(() => ({ start: new Float64Array(1), kind: new Uint32Array(0), step: 1 }))
  for (const c of curves) {
    if (c.row < 0 || !lanes[c.row]) continue
    lanes[c.row] = { start: c.start, step: c.step, kind: Uint32Array.from(c.mean, v => v !== v ? 0 : 1 + Math.round(Math.min(Math.max((v - low) / (high - low), 0), 1) * (levels - 1))) }
  }
  return lanes
}
