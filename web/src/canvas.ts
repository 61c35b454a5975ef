// The timeline: rows of bars on a canvas. Each pixel is the mean of the colors of what happens
// in it, so that what takes a third of a pixel's time has a third of its color.

import { indexAt, type Collective, type Detail, type Lane, type Messages, type Timeline } from './data'
import { levelLanes } from './levels'
import { drawPhases, type Phase } from './phasemarks'
import type { Strip } from './strips'
import { Svg } from './svg'
import type { Note } from './view'
import { baseOf, ticks, instant, time } from './units'

export interface Scene {
  timeline: Timeline
  detail: Detail | null     // of a part of it
  strips: Strip[]           // rows from top to bottom
  scrolled: number          // px by which those that are not pinned lie higher
  inks: Inks                // by activity
  levelInks: Inks           // of levels (Levels says what their kinds are)
  from: number; to: number
  select: [number, number] | null
  messages: boolean
  critical: boolean
  phases: Phase[]
  notes: Note[]
  labels: (row: number) => string
  named: (kind: number, level: boolean) => string // what a run is called, '' if nothing
  opens: (row: number) => boolean   // it has levels to show
  marked: number[]                  // rows
  dark: boolean
}

// What the pointer is over: a run of a row, and of one of its levels where these are shown.
export interface Hit { row: number; lane: Lane; run: number; time: number; level: { lane: Lane; run: number } | null }

// What joins rows and the pointer is over.
export type Joined = { messages: Messages; i: number } | { collective: Collective }

// near is how close to it that must be, px.
const near = 4

// finer returns the detail if it holds all that is shown.
function finer(s: Scene): Detail | null { return s.detail && s.detail.from <= Math.max(s.from, 0) && Math.min(s.to, s.timeline.head.length_ns) <= s.detail.to ? s.detail : null }

export function laneOf(s: Scene, row: number): Lane { return (finer(s) ?? s.timeline).lanes[row] }

// gutter is the space left of the bars, for labels.
export function gutter(width: number): number { return width < 600 ? 96 : 138 }
export const ruler = 26     // px above them

// pinnedEnd returns where the pinned rows end, px.
export function pinnedEnd(strips: Strip[]): number { return strips[0]?.pinned ? strips[0].top + strips[0].rows.length * strips[0].each : ruler }

// lanesIn is how many lanes a strip has.
function lanesIn(p: Strip): number { return p.group !== undefined ? 1 : p.levels || p.rows.length }

// What was Counted last: how many times are before each column of pixels.
interface Counted { times: Float64Array; from: number; perPixel: number; until: Uint32Array }

// A Painted strip is what of it was drawn last.
interface Painted { pixels: ImageData; drawn: Drawn | null; first: number; count: number; of: Strip; order: number[] }

export class Canvas {
  private readonly painted: (Painted | undefined)[] = []
  private readonly counted: (Counted | undefined)[] = []
  private named: unknown[] = [] // what the names of rows were drawn of last: they stay while time moves
  width = 0 // of the element, CSS px
  height = 0
  constructor(readonly element: HTMLCanvasElement) {}

  get left() { return gutter(this.width) }
  get plot() { return Math.max(this.width - this.left - 8, 10) }

  x(s: Scene, t: number) { return this.left + (t - s.from) / (s.to - s.from) * this.plot }
  timeAt(s: Scene, x: number) { return s.from + (x - this.left) / this.plot * (s.to - s.from) }

  // laneAt returns the strip at a height and which of its lanes it is, null: none.
  laneAt(s: Scene, y: number): { strip: Strip; lane: number } | null {
    const pinned = y < pinnedEnd(s.strips)
    if (y < ruler) return null
    for (const strip of s.strips) {
      const lane = Math.floor((y + (pinned ? 0 : s.scrolled) - strip.top) / strip.each)
      if (strip.pinned === pinned && lane >= 0 && lane < lanesIn(strip)) return { strip, lane }
    }
    return null
  }

  hit(s: Scene, x: number, y: number): Hit | null {
    const at = this.laneAt(s, y), t = this.timeAt(s, x)
    if (!at || at.strip.group !== undefined || x < this.left || t < s.from || t > s.to) return null
    const row = at.strip.rows[at.strip.levels ? 0 : at.lane], lane = laneOf(s, row)
    if (!lane.kind.length) return null
    const level = at.strip.levels ? levelLanes(s.timeline.head, lane)[at.lane] : null, called = level ? indexAt(level, t) : 0
    return { row, lane, run: indexAt(lane, t), time: t, level: level?.kind[called] ? { lane: level, run: called } : null }
  }

  // fit asks how large the element is: the browser then lays the page out, if it has to.
  fit() {
    this.width = this.element.clientWidth
    this.height = this.element.clientHeight
  }

  draw(s: Scene) {
    const scale = window.devicePixelRatio || 1
    if (!this.width) this.fit()
    const w = Math.round(this.width * scale), h = Math.round(this.height * scale)
    if (this.element.width !== w || this.element.height !== h) { this.element.width = w; this.element.height = h }
    this.paint(this.element.getContext('2d')!, s, scale)
  }

  // svg returns the scene as it was drawn last.
  svg(s: Scene): string {
    const svg = new Svg(this.width, this.height, window.devicePixelRatio || 1, this.element.getContext('2d')!)
    this.named = []
    this.paint(svg as unknown as CanvasRenderingContext2D, s, window.devicePixelRatio || 1)
    return svg.text(getComputedStyle(this.element).backgroundColor)
  }

  private paint(c: CanvasRenderingContext2D, s: Scene, scale: number) {
    const ink = s.dark ? '#d7dde4' : '#2b3138', faint = s.dark ? '#39424d' : '#d5dae0'
    const { width, height } = this.element, names = [s.timeline, s.strips, s.scrolled, s.marked, s.dark, scale, width, height]
    const stay = names.every((v, i) => v === this.named[i]), from = stay ? Math.round(this.left * scale) : 0
    this.named = names
    c.setTransform(1, 0, 0, 1, 0, 0)
    c.clearRect(from, 0, width - from, height)
    const top = pinnedEnd(s.strips)
    s.strips.forEach((p, k) => { if (!p.pinned) this.strip(c, s, p, k, scale, ink, stay) })
    c.setTransform(scale, 0, 0, scale, 0, 0)
    c.clearRect(0, 0, this.width, ruler)
    c.clearRect(from / scale, ruler, this.width, top - ruler)
    if (s.strips[0]?.pinned) {
      this.strip(c, s, s.strips[0], 0, scale, ink, stay)
      c.fillStyle = ink
      c.fillRect(0, top + 2, this.width, 1)
    }
    this.density(c, s, scale) // before what is no picture: each picture takes what was drawn before it to its end
    c.setTransform(scale, 0, 0, scale, 0, 0)
    c.save()
    c.beginPath()
    c.rect(this.left, ruler, this.plot, this.height - ruler)
    c.clip()
    this.arrows = []
    this.joints = []
    if (s.messages || s.critical) {
      const y = this.middles(s)
      if (s.messages) { this.collectives(c, s, y); this.messages(c, s, y) }
      if (s.critical) this.critical(c, s, y)
    }
    if (s.select) this.selection(c, s)
    c.restore()
    if (s.select) this.measure(c, s, ink)
    this.axis(c, s, ink, faint)
    drawPhases(c, s.phases, t => this.x(s, t), [this.left, this.left + this.plot], [ruler, this.height], s.dark)
    this.notes(c, s)
  }

  // notes draws flags on the ruler.
  private notes(c: CanvasRenderingContext2D, s: Scene) {
    c.fillStyle = s.dark ? '#ffbf80' : '#8a3b00'
    c.font = 'bold 11px system-ui, sans-serif'
    c.textAlign = 'left'
    c.textBaseline = 'middle'
    for (const n of s.notes) {
      if (n.at < s.from || n.at > s.to) continue
      const x = this.x(s, n.at)
      c.fillRect(x, 12, 1, this.height)
      c.fillText(fitted(`⚑ ${n.text}`, Math.min(this.left + this.plot - x, 160), c), x + 2, 19)
    }
  }

  // strip draws what is in sight of a strip: bars, names on them, and names of rows.
  private strip(c: CanvasRenderingContext2D, s: Scene, p: Strip, k: number, scale: number, ink: string, stay: boolean) {
    const top = p.top - (p.pinned ? 0 : s.scrolled), above = p.pinned ? ruler : pinnedEnd(s.strips)
    const first = Math.max(Math.floor((above - top) / p.each), 0), end = Math.min(Math.ceil((this.height - top) / p.each), lanesIn(p))
    if (end <= first) return
    const inks = p.levels ? s.levelInks : s.inks, grouped = p.group !== undefined
    const lanes = p.levels ? levelLanes(s.timeline.head, laneOf(s, p.rows[0])) : (finer(s) ?? s.timeline).lanes
    const y0 = Math.round((top + first * p.each) * scale), w = Math.round(this.plot * scale), h = Math.max(Math.round((top + end * p.each) * scale) - y0, 1)
    let was = this.painted[k]
    if (!was || was.of !== p || was.first !== first || was.count !== end - first || was.pixels.width !== w || was.pixels.height !== h) {
      const order = grouped ? p.rows : Array.from({ length: end - first }, (_, i) => p.levels ? first + i : p.rows[first + i])
      was = this.painted[k] = { pixels: was?.pixels.width === w && was.pixels.height === h ? was.pixels : new ImageData(w, h), drawn: null, first, count: end - first, of: p, order }
    }
    this.bars(was, { lanes, order: was.order, inks, from: s.from, perPixel: (s.to - s.from) / w })
    c.putImageData(was.pixels, Math.round(this.left * scale), y0)
    c.setTransform(scale, 0, 0, scale, 0, 0)
    if (p.each >= leastNamed && !grouped) {
      c.font = '11px system-ui, sans-serif'
      c.textAlign = 'left'
      c.textBaseline = 'middle'
      was.order.forEach((lane, i) => { if (lanes[lane]) this.runNames(c, s, lanes[lane], inks, p.levels > 0, top + (first + i) * p.each, p.each) })
    }
    if (!stay) this.labels(c, s, p, top, first, end, ink)
  }

  private bars(was: Painted, now: Drawn) {
    const { width: w, height: h } = was.pixels, draw = was.of.group === undefined ? columns : mean, out = new Uint32Array(was.pixels.data.buffer)
    // What was moved by whole pixels is moved; only what was not seen before is drawn.
    const { drawn } = was, moved = drawn && drawn.lanes === now.lanes && drawn.order === now.order && drawn.inks === now.inks ? distance(drawn, now) : null
    if (moved !== null && Math.abs(moved) < w) {
      now.from = drawn!.from + moved * now.perPixel
      out.copyWithin(Math.max(-moved, 0), Math.max(moved, 0), Math.min(out.length - moved, out.length))
      if (moved !== 0) draw(out, w, h, now, moved > 0 ? w - moved : 0, moved > 0 ? w : -moved)
    } else draw(out, w, h, now, 0, w)
    was.drawn = now
  }

  // runNames writes on the runs of a lane that have room for it what they are.
  private runNames(c: CanvasRenderingContext2D, s: Scene, { start, kind }: Lane, inks: Inks, level: boolean, top: number, each: number) {
    const least = leastLabel / this.plot * (s.to - s.from), full = inks.shared(1), right = this.left + this.plot
    for (let i = kind.length ? indexAt({ start, kind }, s.from) : 0; i < kind.length && start[i] < s.to; i++) {
      if (start[i + 1] - start[i] < least) continue
      const a = Math.max(this.x(s, start[i]), this.left), b = Math.min(this.x(s, start[i + 1]), right), ink = full[kind[i]], name = s.named(kind[i], level)
      if (b - a < leastLabel || !name) continue
      c.fillStyle = s.dark ? '#1c2229' : '#ffffff' // where one ends and the next begins
      if (level) c.fillRect(a, top, 1, each - 1)
      c.fillStyle = ink >>> 24 < 200 ? s.dark ? '#ffffff' : '#000000' : textOn(ink)
      c.fillText(fitted(name, b - a - 8, c), a + 4, top + each / 2)
    }
  }

  // middles returns where each row's bars are, -1: out of sight. A pinned row is there alone.
  private middles(s: Scene): Float64Array {
    const y = new Float64Array(s.timeline.lanes.length).fill(-1), from = pinnedEnd(s.strips)
    for (const p of [...s.strips].reverse()) {
      if (p.group !== undefined && !p.closed) continue
      for (let k = 0; k < p.rows.length; k++) {
        const at = p.closed ? p.top - s.scrolled + p.each / 2 : p.top - (p.pinned ? 0 : s.scrolled) + (p.levels ? p.levels / 2 : k + 0.5) * p.each
        y[p.rows[k]] = p.pinned || at >= from && at <= this.height ? at : -1
      }
    }
    return y
  }

  // Messages and collectives that were drawn last, to be picked.
  private arrows: { messages: Messages; i: number; x0: number; y0: number; x1: number; y1: number }[] = []
  private joints: { collective: Collective; x: number; top: number; bottom: number }[] = []

  // joined returns the message or the collective that is drawn at a point, if any.
  joined(x: number, y: number): Joined | null {
    let best: Joined | null = null, least = near
    for (const a of this.arrows) {
      const dx = a.x1 - a.x0, dy = a.y1 - a.y0, along = Math.min(Math.max(((x - a.x0) * dx + (y - a.y0) * dy) / (dx * dx + dy * dy || 1), 0), 1)
      const away = Math.hypot(x - a.x0 - along * dx, y - a.y0 - along * dy)
      if (away < least && Math.min(Math.abs(y - a.y0), Math.abs(y - a.y1)) > 5) { // at its ends calls are pointed at
        least = away
        best = { messages: a.messages, i: a.i }
      }
    }
    for (const b of this.joints) if (Math.abs(x - b.x) < Math.min(least, 2) && y >= b.top - near && y <= b.bottom + near) { least = Math.abs(x - b.x); best = { collective: b.collective } }
    return best
  }

  private readonly about: ({ of: unknown; from: number; to: number; some: number[] } | undefined)[] = []

  // around returns which of many things are in a stretch of time, and before and after it by its length: moving asks for them in each frame.
  private around(k: number, of: ArrayLike<unknown>, s: Scene, begin: (i: number) => number, end: (i: number) => number): number[] {
    const was = this.about[k], span = s.to - s.from
    if (was?.of === of && was.from <= s.from && s.to <= was.to && was.to - was.from <= 4 * span) return was.some
    const now = this.about[k] = { of, from: s.from - span, to: s.to + span, some: [] as number[] }
    for (let i = 0; i < of.length; i++) if (end(i) >= now.from && begin(i) <= now.to) now.some.push(i)
    return now.some
  }

  private messages(c: CanvasRenderingContext2D, s: Scene, y: Float64Array) {
    const m = finer(s)?.messages ?? s.timeline.messages, most = 1500
    const seen: number[] = []
    for (const i of this.around(0, m.sent, s, i => Math.min(m.sent[i], m.done[i]), i => Math.max(m.sent[i], m.done[i]))) {
      if (Math.max(m.sent[i], m.done[i]) < s.from || Math.min(m.sent[i], m.done[i]) > s.to || y[m.from[i]] < 0 || y[m.to[i]] < 0) continue
      if (seen.push(i) > most) return // the strip above the bars shows how many there are
    }
    c.strokeStyle = c.fillStyle = s.dark ? '#ffffff' : '#000000'
    c.globalAlpha = seen.length > 300 ? 0.25 : 0.6
    c.lineWidth = 1
    c.beginPath()
    for (const i of seen) {
      const a = { messages: m, i, x0: this.x(s, m.sent[i]), y0: y[m.from[i]], x1: this.x(s, m.done[i]), y1: y[m.to[i]] }
      this.arrows.push(a)
      c.moveTo(a.x0, a.y0)
      c.lineTo(a.x1, a.y1)
    }
    c.stroke()
    if (seen.length <= 300) this.heads(c)
    c.globalAlpha = 1
  }

  // heads draws where messages arrive.
  private heads(c: CanvasRenderingContext2D) {
    c.beginPath()
    for (const { x0, y0, x1, y1 } of this.arrows) {
      const length = Math.hypot(x1 - x0, y1 - y0)
      if (length < 14) continue
      const u = 7 * (x1 - x0) / length, v = 7 * (y1 - y0) / length
      c.moveTo(x1, y1)
      c.lineTo(x1 - u - 0.4 * v, y1 - v + 0.4 * u)
      c.lineTo(x1 - u + 0.4 * v, y1 - v - 0.4 * u)
      c.closePath()
    }
    c.fill()
  }

  private collectives(c: CanvasRenderingContext2D, s: Scene, y: Float64Array) {
    const seen: Collective[] = [], { collectives } = finer(s) ?? s.timeline
    for (const i of this.around(1, collectives, s, i => collectives[i].begin, i => collectives[i].end)) {
      const k = collectives[i]
      if (k.end >= s.from && k.begin <= s.to && seen.push(k) > 150) return
    }
    c.fillStyle = s.dark ? '#ffcf5a' : '#8a4b00'
    for (const k of seen) {
      const ends = [k.first, k.last].map(r => y[r]).filter(v => v >= 0)
      if (ends.length < 2) continue
      const x = Math.round(this.x(s, k.latestBegin)), top = Math.min(...ends), bottom = Math.max(...ends)
      this.joints.push({ collective: k, x, top, bottom })
      c.globalAlpha = 0.7
      c.fillRect(x, top, 1, bottom - top) // dashes take several times as long to draw
      c.globalAlpha = 1
      if (y[k.latest] >= 0) { c.beginPath(); c.arc(x + 0.5, y[k.latest], 3, 0, 7); c.fill() }
    }
  }

  private critical(c: CanvasRenderingContext2D, s: Scene, y: Float64Array) {
    c.fillStyle = '#e5003c'
    // Rectangles, not a stroke, which takes several times as long to draw. Of what falls on one pixel
    // in time the outermost rows are joined.
    let column = NaN, low = 0, high = 0, last = -1
    const join = () => { if (low < high) c.fillRect(column - 1, low - 1, 2, high - low + 2) }
    const { critical } = s.timeline
    for (const i of this.around(2, critical, s, i => critical[i].from, i => critical[i].to)) {
      const p = critical[i], at = y[p.row]
      if (p.to < s.from || p.from > s.to || at < 0) { last = -1; continue }
      const x0 = Math.round(this.x(s, p.from)), x1 = Math.round(this.x(s, p.to))
      if (x0 !== column) { join(); column = x0; low = high = last < 0 ? at : last }
      low = Math.min(low, at)
      high = Math.max(high, at)
      if (x1 > x0) {
        join()
        c.fillRect(x0, at - 1, x1 - x0, 2)
        column = x1
        low = high = at
      }
      last = at
    }
    join()
  }

  private selection(c: CanvasRenderingContext2D, s: Scene) {
    const [a, b] = s.select!.map(t => this.x(s, t))
    c.fillStyle = s.dark ? '#00000070' : '#5b6b7c40'
    c.fillRect(this.left, ruler, a - this.left, this.height)
    c.fillRect(b, ruler, this.width, this.height)
  }

  // measure writes into the selected time how long it is.
  private measure(c: CanvasRenderingContext2D, s: Scene, ink: string) {
    const [a, b] = s.select!.map(t => Math.min(Math.max(this.x(s, t), this.left), this.left + this.plot))
    if (b <= a) return
    c.font = 'bold 12px system-ui, sans-serif'
    c.textAlign = 'center'
    c.textBaseline = 'middle'
    const text = time(s.select![1] - s.select![0]), half = c.measureText(text).width / 2 + 5
    const x = Math.min(Math.max((a + b) / 2, this.left + half), this.left + this.plot - half), y = ruler + 12
    c.fillStyle = s.dark ? '#1c2229e0' : '#ffffffe0'
    c.fillRect(x - half, y - 9, 2 * half, 18)
    c.fillStyle = ink
    c.fillText(text, x, y)
    c.fillRect(a, y + 9, b - a, 1)
  }

  private axis(c: CanvasRenderingContext2D, s: Scene, ink: string, faint: string) {
    c.font = '11px system-ui, sans-serif'
    c.fillStyle = ink
    c.textBaseline = 'middle'
    const marks = ticks(Math.max(s.from, 0), Math.min(s.to, s.timeline.head.length_ns), (Math.min(s.to, s.timeline.head.length_ns) - Math.max(s.from, 0)) / (s.to - s.from) * this.plot / (this.width < 600 ? 64 : 110))
    const step = marks.length > 1 ? marks[1] - marks[0] : s.to - s.from, base = baseOf(s.from, s.to)
    if (base > 0) {
      c.textAlign = 'right'
      c.font = 'bold 11px system-ui, sans-serif'
      c.fillText(`${instant(base, 10 ** Math.floor(Math.log10(s.to - s.from)), base)} +`, this.left - 6, 7)
      c.font = '11px system-ui, sans-serif'
    }
    for (const t of marks) {
      const x = this.x(s, t)
      c.fillStyle = faint
      c.fillRect(x - 0.5, ruler - 5, 1, 5)
      c.fillStyle = ink
      c.textAlign = x > this.width - 60 ? 'right' : x < this.left + 30 ? 'left' : 'center'
      c.fillText(instant(t - base, step, s.to - base), x, 7)
    }
  }

  // density draws, under the ruler's text, how many of the messages are sent when, and hanging from
  // above how many collectives begin.
  private density(c: CanvasRenderingContext2D, s: Scene, scale: number) {
    if (!s.timeline.sent.length && !s.timeline.collectives.length) return
    const w = Math.round(this.plot * scale), pixels = new ImageData(w, Math.round(10 * scale)), px = (n: number) => Math.round(n * scale)
    this.heap(pixels, s, 0, s.timeline.sent, 7, s.dark ? 0xfff8b48a : 0xffb35f2f, height => [px(10) - px(height), px(10)])
    this.heap(pixels, s, 1, begunIn(s.timeline.collectives), 3, s.dark ? 0xff5acfff : 0xff004b8a, height => [0, px(height)])
    c.putImageData(pixels, Math.round(this.left * scale), px(ruler - 13))
  }

  // heap draws how many of some times fall on each column of pixels, as bars between heights.
  private heap(pixels: ImageData, s: Scene, k: number, times: Float64Array, tallest: number, ink: number, between: (height: number) => number[]) {
    if (!times.length) return
    const w = pixels.width, out = new Uint32Array(pixels.data.buffer), until = this.until(k, times, s.from, (s.to - s.from) / w, w)
    let most = 0
    for (let x = 0; x < w; x++) most = Math.max(most, until[x + 1] - until[x])
    const heights = Array.from({ length: tallest }, (_, h) => between(h + 1)), of = 6 / Math.log1p(most)
    for (let x = 0; x < w; x++) {
      const n = until[x + 1] - until[x]
      if (!n) continue
      const [top, bottom] = heights[Math.max(Math.round(tallest * (1 + of * Math.log1p(n)) / 7), 1) - 1]
      for (let y = top; y < bottom; y++) out[y * w + x] = ink
    }
  }

  // until returns how many times are before each column of pixels, and before the end. Of what was moved by whole pixels only new columns
  // are counted.
  private until(k: number, times: Float64Array, from: number, perPixel: number, w: number): Uint32Array {
    const last = this.counted[k], was = last?.times === times && last.until.length === w + 1 ? last : null, now = this.counted[k] = { times, from, perPixel, until: was?.until ?? new Uint32Array(w + 1) }, { until } = now
    const moved = was && distance(was, now), some = moved !== null && Math.abs(moved) <= w
    if (some) {
      now.from = was!.from + moved * perPixel
      until.copyWithin(Math.max(-moved, 0), Math.max(moved, 0), w + 1 - Math.max(-moved, 0))
    }
    for (let x = some && moved > 0 ? w + 1 - moved : 0; x < (some && moved <= 0 ? -moved : w + 1); x++) until[x] = before(times, now.from + x * perPixel)
    return until
  }

  private labels(c: CanvasRenderingContext2D, s: Scene, p: Strip, top: number, first: number, end: number, ink: string) {
    if (p.group !== undefined) {
      c.fillStyle = ink
      c.font = 'bold 11px system-ui, sans-serif'
      c.textBaseline = 'middle'
      c.textAlign = 'left'
      c.fillText(`${p.closed ? '▸' : '▾'} ${fitted(`${p.group} (${p.rows.length})`, this.left - 24, c)}`, 3, top + p.each / 2)
      return
    }
    const above = pinnedEnd(s.strips), every = p.levels ? p.levels : Math.max(1, Math.ceil(12 / p.each))
    c.textBaseline = 'middle'
    for (let k = first - first % every, last = -Infinity; k < end; k += every) {
      const row = p.rows[p.levels ? 0 : k], middle = Math.max(top + k * p.each, p.levels ? above : -1e9) + p.each / 2, y = p.pinned ? middle : Math.max(middle, above + 6), marked = s.marked.includes(row)
      if (!p.pinned && middle < above || y < last + 11) continue // the first may stand lower than its row
      last = y
      c.fillStyle = marked ? s.dark ? '#ffbf80' : '#8a3b00' : ink
      c.font = marked || p.pinned ? 'bold 12px system-ui, sans-serif' : '11px system-ui, sans-serif'
      c.textAlign = 'right'
      c.fillText(shortened(s.labels(row), this.left - (p.each >= 12 && s.opens(row) ? 20 : 9), c), this.left - 6, y)
      c.textAlign = 'left'
      if (p.each >= 12 && !p.pinned && s.opens(row)) c.fillText(p.levels ? '▾' : '▸', 3, y)
    }
    // Marked rows that are too thin to be named.
    c.fillStyle = s.dark ? '#ffbf80' : '#8a3b00'
    if (every > 1 && !p.levels) p.rows.forEach((row, k) => { if (s.marked.includes(row)) c.fillRect(this.left - 5, Math.round(top + (k + 0.5) * p.each) - 1, 5, 3) })
  }
}

const begun = new WeakMap<Collective[], Float64Array>()

// begunIn returns when collectives have their last member, in order of time.
function begunIn(collectives: Collective[]): Float64Array {
  let known = begun.get(collectives)
  if (!known) begun.set(collectives, known = Float64Array.from(collectives, k => k.latestBegin).sort())
  return known
}

// before returns how many of times in order are before a time.
function before(times: Float64Array, t: number): number {
  let low = 0, high = times.length
  while (low < high) {
    const mid = (low + high) >> 1
    if (times[mid] < t) low = mid + 1
    else high = mid
  }
  return low
}

// leastLabel is how wide a run must be to be named, leastNamed how high, px.
const leastLabel = 34, leastNamed = 13

// textOn returns the color of text that can be read on an ink (WCAG 2.1).
export function textOn(ink: number): string {
  const light = [0.2126, 0.7152, 0.0722].reduce((sum, part, k) => { const v = (ink >> 8 * k & 255) / 255; return sum + part * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4) }, 0)
  return light > 0.179 ? '#000000' : '#ffffff'
}

// fitted cuts a name off where its run ends.
function fitted(text: string, width: number, c: CanvasRenderingContext2D): string {
  if (text.length * 12 > width && c.measureText(text).width > width) { // few letters are wider
    let n = Math.min(text.length, Math.floor(width / 3))
    while (n > 1 && c.measureText(text.slice(0, n) + '…').width > width) n--
    return n > 1 ? text.slice(0, n) + '…' : ''
  }
  return text
}

// shortened fits a label into a width. It cuts out the first brackets, which name the program, then
// the middle: the rank stands at the beginning, what tells its threads and streams apart at the end.
function shortened(text: string, width: number, c: CanvasRenderingContext2D): string {
  const wide = (t: string) => c.measureText(t).width
  if (wide(text) <= width) return text
  text = text.replace(/ \([^()]*\)/, '')
  const whole = wide(text)
  if (whole <= width) return text
  const head = text.slice(0, Math.min(text.indexOf('·') + 1 || 4, 12)) + '…'
  for (let n = Math.min(Math.ceil((width - wide(head)) / whole * text.length) + 2, text.length); n > 1; n--) {
    const t = head + text.slice(-n).trimStart()
    if (wide(t) <= width) return t
  }
  return head
}

// Drawn says what bars show, and where.
export interface Drawn { lanes: Lane[]; order: number[]; inks: Inks; from: number; perPixel: number }

// distance returns by how many pixels one is the other moved, null if it is not that alone.
function distance(a: { from: number; perPixel: number }, b: { from: number; perPixel: number }): number | null {
  if (Math.abs(a.perPixel / b.perPixel - 1) > 1e-9) return null
  const d = (b.from - a.from) / b.perPixel, whole = Math.round(d)
  return Math.abs(d - whole) < 0.02 ? whole : null
}

// columns draws some columns of all rows.
export function columns(out: Uint32Array, w: number, h: number, d: Drawn, x0: number, x1: number) {
  const { order } = d, perRow = h / order.length, gap = perRow >= 6 ? 1 : 0
  for (let k = 0; k < order.length;) {
    const y0 = Math.floor(k * perRow), line = out.subarray(y0 * w, (y0 + 1) * w)
    let next = k + 1
    while (next < order.length && Math.floor(next * perRow) === y0) next++
    const step = Math.ceil((next - k) / mostInLine), rows = Math.ceil((next - k) / step)
    line.fill(0, x0, x1)
    for (; k < next; k += step) if (d.lanes[order[k]]) add(line, d.lanes[order[k]], d, d.inks.shared(rows), x0, x1)
    k = next
    finish(line, Math.floor(255 / rows) * rows, d.inks.least, x0, x1)
    const y1 = Math.min(Math.max(Math.floor(k * perRow) - gap, y0 + 1), h)
    for (let y = y0 + 1; y < y1; y++) out.copyWithin(y * w + x0, y0 * w + x0, y0 * w + x1)
  }
}

// mean draws some columns of all rows of a group as one: the mean of their colors.
function mean(out: Uint32Array, w: number, h: number, d: Drawn, x0: number, x1: number) {
  const sums = new Float64Array(4 * w), line = new Uint32Array(w), inks = d.inks.shared(1), step = Math.ceil(d.order.length / mostInMean)
  let rows = 0
  for (let k = 0; k < d.order.length; k += step, rows++) {
    line.fill(0, x0, x1)
    if (d.lanes[d.order[k]]) add(line, d.lanes[d.order[k]], d, inks, x0, x1)
    for (let x = x0; x < x1; x++) for (let part = 0; part < 4; part++) sums[4 * x + part] += line[x] >>> 8 * part & 255
  }
  for (let x = x0; x < x1; x++) {
    const [r, g, b, a] = sums.subarray(4 * x, 4 * x + 4)
    line[x] = a > 0 ? (Math.min(a / rows, 255) << 24 | Math.min(255 * b / a, 255) << 16 | Math.min(255 * g / a, 255) << 8 | Math.min(255 * r / a, 255)) >>> 0 : 0
  }
  for (let y = 0; y < h - 1; y++) out.set(line.subarray(x0, x1), y * w + x0)
}

// mostInMean is how many rows of a group its mean is of; of more, they are spread over all.
const mostInMean = 256

// mostInLine is how many rows that fall on one line of pixels are drawn: their mean, as that of
// what falls on one pixel in time.
const mostInLine = 4

// Inks are colors by activity, each channel times the opacity.
export class Inks {
  private readonly byRows: Uint32Array[] = []
  // Activities that are lit stay in color while others fade; null: all.
  constructor(private readonly s: { colors: Uint32Array; lit: Uint8Array | null }) {}

  // least is the least opacity of what is drawn; what is not lit is paler.
  get least(): number { return this.s.lit ? 0 : 72 }

  // shared returns inks so thin that a number of rows together give full colors.
  shared(rows: number): Uint32Array {
    const { colors, lit } = this.s
    return this.byRows[rows] ??= colors.map((color, activity) => {
      const alpha = Math.floor((color >>> 24) * (lit && !lit[activity] ? 0.13 : 1) / rows), part = alpha / 255
      return (alpha << 24 | (color >> 16 & 255) * part << 16 | (color >> 8 & 255) * part << 8 | (color & 255) * part) >>> 0
    })
  }
}

// add adds a row's inks to pixels x0 to x1 of a line. It goes through the runs once, from pixel
// to pixel: what lasts less than a pixel is added up until the pixel is full, what lasts longer
// fills pixels as it is.
function add(line: Uint32Array, lane: Lane, d: Drawn, inks: Uint32Array, x0: number, x1: number) {
  const { start, kind } = lane, { from, perPixel } = d
  if (!kind.length) return
  let x = x0, r = 0.5, g = 0.5, b = 0.5, a = 0.5 // the pixel that is being filled, and what is in it, to be rounded
  let i = indexAt(lane, from + x0 * perPixel)
  for (let at = Math.max((start[i] - from) / perPixel, x0); i < kind.length && at < x1; i++) {
    const end = Math.min((start[i + 1] - from) / perPixel, x1), ink = inks[kind[i]]
    if (at >= x + 1) x = Math.floor(at)
    if (end < x + 1) {
      const part = end - at
      r += part * (ink & 255); g += part * (ink >> 8 & 255); b += part * (ink >> 16 & 255); a += part * (ink >>> 24)
    } else {
      const part = x + 1 - at
      line[x] += (r + part * (ink & 255) | (g + part * (ink >> 8 & 255)) << 8 | (b + part * (ink >> 16 & 255)) << 16 | (a + part * (ink >>> 24)) << 24) >>> 0
      const whole = Math.floor(end)
      for (x++; x < whole; x++) line[x] += ink
      const rest = end - x
      r = 0.5 + rest * (ink & 255); g = 0.5 + rest * (ink >> 8 & 255); b = 0.5 + rest * (ink >> 16 & 255); a = 0.5 + rest * (ink >>> 24)
    }
    at = end
  }
  if (x < x1) line[x] += (r | g << 8 | b << 16 | a << 24) >>> 0
}

// finish takes the opacity out of the colors, as a canvas wants them; full is that of rows
// without gaps. What is there at all has the least opacity, so that a short call among nothing is seen.
function finish(line: Uint32Array, full: number, least: number, x0: number, x1: number) {
  for (let x = x0; x < x1; x++) {
    const v = line[x], a = v >>> 24
    if (a === full) line[x] = (v | 0xff000000) >>> 0
    else if (a > 0) {
      const scale = 255 / a
      line[x] = (Math.max(255 * a / full, least) << 24 | Math.min((v >> 16 & 255) * scale, 255) << 16 | Math.min((v >> 8 & 255) * scale, 255) << 8 | Math.min((v & 255) * scale, 255)) >>> 0
    }
  }
}
