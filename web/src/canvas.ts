// The timeline: rows of bars on a canvas. Each pixel is the mean of the colours of what happens
// in it, so that what takes a third of a pixel's time has a third of its colour.

import { indexAt, type Detail, type Lane, type Timeline } from './data'
import { drawPhases, type Phase } from './phasemarks'
import { ticks, instant } from './units'

export interface Scene {
  timeline: Timeline
  detail: Detail | null     // of a part of it
  order: number[]           // rows from top to bottom
  colors: Uint32Array       // by activity
  lit: Uint8Array | null    // activities that stay in colour while others fade; null: all
  from: number; to: number
  select: [number, number] | null
  messages: boolean
  critical: boolean
  phases: Phase[]
  labels: (row: number) => string
  marked: (row: number) => boolean
  dark: boolean
}

// What the pointer is over.
export interface Hit { row: number; lane: Lane; run: number; time: number }

// finer returns the detail if it holds all that is shown.
function finer(s: Scene): Detail | null { return s.detail && s.detail.from <= s.from && s.to <= s.detail.to ? s.detail : null }

function laneOf(s: Scene, row: number): Lane { return (finer(s) ?? s.timeline).lanes[row] }

// gutter is the space left of the bars, for labels.
export function gutter(width: number): number { return width < 600 ? 70 : 118 }
export const ruler = 26     // px above them

export class Canvas {
  private pixels: ImageData | null = null
  constructor(readonly element: HTMLCanvasElement) {}

  get width() { return this.element.clientWidth }
  get height() { return this.element.clientHeight }
  get left() { return gutter(this.width) }
  get plot() { return Math.max(this.width - this.left - 8, 10) }

  x(s: Scene, t: number) { return this.left + (t - s.from) / (s.to - s.from) * this.plot }
  timeAt(s: Scene, x: number) { return s.from + (x - this.left) / this.plot * (s.to - s.from) }
  rowHeight(s: Scene) { return (this.height - ruler) / Math.max(s.order.length, 1) }

  hit(s: Scene, x: number, y: number): Hit | null {
    const k = Math.floor((y - ruler) / this.rowHeight(s)), t = this.timeAt(s, x)
    if (x < this.left || y < ruler || k < 0 || k >= s.order.length || t < s.from || t > s.to) return null
    const row = s.order[k], lane = laneOf(s, row)
    return lane.kind.length ? { row, lane, run: indexAt(lane, t), time: t } : null
  }

  draw(s: Scene) {
    const scale = window.devicePixelRatio || 1
    const w = Math.round(this.width * scale), h = Math.round(this.height * scale)
    if (this.element.width !== w || this.element.height !== h) { this.element.width = w; this.element.height = h }
    const c = this.element.getContext('2d')!
    const ink = s.dark ? '#d7dde4' : '#2b3138', faint = s.dark ? '#39424d' : '#d5dae0'
    c.setTransform(1, 0, 0, 1, 0, 0)
    c.clearRect(0, 0, w, h)
    this.bars(c, s, scale)
    c.setTransform(scale, 0, 0, scale, 0, 0)
    c.save()
    c.beginPath()
    c.rect(this.left, ruler, this.plot, this.height - ruler)
    c.clip()
    if (s.messages) { this.collectives(c, s); this.messages(c, s) }
    if (s.critical) this.critical(c, s)
    if (s.select) this.selection(c, s)
    c.restore()
    this.axis(c, s, ink, faint)
    drawPhases(c, s.phases, t => this.x(s, t), [this.left, this.left + this.plot], [ruler, this.height], s.dark)
    this.labels(c, s, ink)
  }

  private bars(c: CanvasRenderingContext2D, s: Scene, scale: number) {
    const w = Math.round(this.plot * scale), top = Math.round(ruler * scale), h = Math.round(this.height * scale) - top
    if (w <= 0 || h <= 0 || s.order.length === 0) return
    if (!this.pixels || this.pixels.width !== w || this.pixels.height !== h) this.pixels = new ImageData(w, h)
    const out = new Uint32Array(this.pixels.data.buffer)
    out.fill(0)
    const sum = new Float64Array(4 * w)
    const perRow = h / s.order.length, gap = perRow >= 6 ? 1 : 0
    s.order.forEach((row, k) => {
      const y0 = Math.floor(k * perRow), y1 = Math.max(Math.floor((k + 1) * perRow) - gap, y0 + 1)
      if (k > 0 && y0 === Math.floor((k - 1) * perRow) && perRow < 1) return // hidden behind the row before
      this.row(s, row, w, sum)
      const line = out.subarray(y0 * w, (y0 + 1) * w)
      for (let x = 0; x < w; x++) {
        const a = sum[4 * x + 3]
        line[x] = a <= 0 ? 0 : (Math.min(a, 1) * 255 << 24 | sum[4 * x + 2] / a << 16 | sum[4 * x + 1] / a << 8 | sum[4 * x] / a) >>> 0
      }
      for (let y = y0 + 1; y < y1 && y < h; y++) out.copyWithin(y * w, y0 * w, (y0 + 1) * w)
    })
    c.putImageData(this.pixels, Math.round(this.left * scale), top)
  }

  // row sums, for each pixel, colours weighted by their share of the pixel's time.
  private row(s: Scene, row: number, w: number, sum: Float64Array) {
    sum.fill(0)
    const { start, kind } = laneOf(s, row)
    if (!kind.length) return
    const perPixel = w / (s.to - s.from)
    for (let i = indexAt({ start, kind }, s.from); i < kind.length && start[i] < s.to; i++) {
      const color = s.colors[kind[i]]
      if (color === 0) continue
      const strength = s.lit && !s.lit[kind[i]] ? 0.13 : 1
      const r = color & 255, g = color >> 8 & 255, b = color >> 16 & 255
      const x0 = Math.max((start[i] - s.from) * perPixel, 0), x1 = Math.min((start[i + 1] - s.from) * perPixel, w)
      for (let x = Math.floor(x0); x < x1; x++) {
        const part = (Math.min(x + 1, x1) - Math.max(x, x0)) * strength
        sum[4 * x] += part * r
        sum[4 * x + 1] += part * g
        sum[4 * x + 2] += part * b
        sum[4 * x + 3] += part
      }
    }
  }

  private middles(s: Scene): Float64Array {
    const h = this.rowHeight(s), y = new Float64Array(s.timeline.lanes.length).fill(-1)
    s.order.forEach((row, k) => { y[row] = ruler + (k + 0.5) * h })
    return y
  }

  private messages(c: CanvasRenderingContext2D, s: Scene) {
    const m = finer(s)?.messages ?? s.timeline.messages, y = this.middles(s), most = 1500
    const seen: number[] = []
    let all = 0
    for (let i = 0; i < m.sent.length; i++) {
      if (Math.max(m.sent[i], m.done[i]) < s.from || Math.min(m.sent[i], m.done[i]) > s.to || y[m.from[i]] < 0 || y[m.to[i]] < 0) continue
      all++
      if (seen.length < most) seen.push(i)
    }
    if (all > most) return // the strip above the bars shows how many there are
    c.strokeStyle = s.dark ? '#ffffff' : '#000000'
    c.globalAlpha = all > 300 ? 0.25 : 0.6
    c.lineWidth = 1
    c.beginPath()
    for (const i of seen) {
      c.moveTo(this.x(s, m.sent[i]), y[m.from[i]])
      c.lineTo(this.x(s, m.done[i]), y[m.to[i]])
    }
    c.stroke()
    c.globalAlpha = 1
  }

  private collectives(c: CanvasRenderingContext2D, s: Scene) {
    const y = this.middles(s)
    const seen = (finer(s) ?? s.timeline).collectives.filter(k => k.end >= s.from && k.begin <= s.to)
    if (seen.length > 150) return
    c.strokeStyle = s.dark ? '#ffcf5a' : '#8a4b00'
    c.lineWidth = 1.2
    for (const k of seen) {
      const ends = [k.first, k.last].map(r => y[r]).filter(v => v >= 0)
      if (ends.length < 2) continue
      const x = this.x(s, k.latestBegin)
      c.setLineDash([4, 3])
      c.beginPath()
      c.moveTo(x, Math.min(...ends))
      c.lineTo(x, Math.max(...ends))
      c.stroke()
      c.setLineDash([])
      if (y[k.latest] >= 0) { c.beginPath(); c.arc(x, y[k.latest], 3, 0, 7); c.fillStyle = c.strokeStyle as string; c.fill() }
    }
  }

  private critical(c: CanvasRenderingContext2D, s: Scene) {
    const y = this.middles(s)
    c.strokeStyle = '#e5003c'
    c.lineWidth = 2
    c.beginPath()
    let drawn = false
    for (const p of s.timeline.critical) {
      if (p.to < s.from || p.from > s.to || y[p.row] < 0) { drawn = false; continue }
      const x0 = this.x(s, p.from)
      if (drawn) c.lineTo(x0, y[p.row])
      else c.moveTo(x0, y[p.row])
      c.lineTo(this.x(s, p.to), y[p.row])
      drawn = true
    }
    c.stroke()
  }

  private selection(c: CanvasRenderingContext2D, s: Scene) {
    const [a, b] = s.select!.map(t => this.x(s, t))
    c.fillStyle = s.dark ? '#00000070' : '#5b6b7c40'
    c.fillRect(this.left, ruler, a - this.left, this.height)
    c.fillRect(b, ruler, this.width, this.height)
  }

  private axis(c: CanvasRenderingContext2D, s: Scene, ink: string, faint: string) {
    c.font = '11px system-ui, sans-serif'
    c.fillStyle = ink
    c.strokeStyle = faint
    c.lineWidth = 1
    c.textBaseline = 'middle'
    const marks = ticks(s.from, s.to, this.plot / 110)
    const step = marks.length > 1 ? marks[1] - marks[0] : s.to - s.from
    for (const t of marks) {
      const x = this.x(s, t)
      c.beginPath()
      c.moveTo(x, ruler - 5)
      c.lineTo(x, ruler)
      c.stroke()
      c.textAlign = x > this.width - 60 ? 'right' : x < this.left + 30 ? 'left' : 'center'
      c.fillText(instant(t, step), x, 7)
    }
    this.density(c, s)
  }

  // density draws, under the ruler's text, how many of the messages are sent when.
  private density(c: CanvasRenderingContext2D, s: Scene) {
    const m = s.timeline.messages, w = Math.round(this.plot)
    if (!m.sent.length) return
    const n = new Float64Array(w)
    let most = 0
    for (let i = 0; i < m.sent.length; i++) {
      const x = Math.floor((m.sent[i] - s.from) / (s.to - s.from) * w)
      if (x >= 0 && x < w) most = Math.max(most, ++n[x])
    }
    c.fillStyle = s.dark ? '#8ab4f8' : '#2f5fb3'
    for (let x = 0; x < w; x++) {
      if (n[x] > 0) { const h = 1 + 6 * Math.log1p(n[x]) / Math.log1p(most); c.fillRect(this.left + x, ruler - 3 - h, 1, h) }
    }
  }

  private labels(c: CanvasRenderingContext2D, s: Scene, ink: string) {
    const h = this.rowHeight(s), every = Math.max(1, Math.ceil(12 / h))
    c.fillStyle = ink
    c.textAlign = 'right'
    c.textBaseline = 'middle'
    for (let k = 0; k < s.order.length; k += every) {
      const marked = s.marked(s.order[k])
      c.font = marked ? 'bold 12px system-ui, sans-serif' : '11px system-ui, sans-serif'
      let text = (marked ? '▸ ' : '') + s.labels(s.order[k])
      while (text.length > 4 && c.measureText(text).width > this.left - 12) text = text.slice(0, Math.floor(text.length * 0.9) - 1) + '…'
      c.fillText(text, this.left - 6, ruler + (k + 0.5) * h)
    }
  }
}
