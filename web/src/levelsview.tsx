import { h } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import { columns, gutter, Inks } from './canvas'
import { indexAt, type Lane } from './data'
import { useDrawing } from './drawing'
import { levelColors, levelsOf, mostLevels } from './levels'
import type { Coloring, Model } from './model'
import { instant, share, time } from './units'
import type { View } from './view'

interface Props { model: Model; view: View; change: (v: Partial<View>) => void; coloring: Coloring; row: number; lane: Lane; dark: boolean }

const levelHeight = 18

// A Place is a run of a level.
interface Place { level: number; run: number }

// LevelsView shows what one row of the timeline calls, each call below the one that it is made in, and wait
// states below the call that waits.
export function LevelsView({ model, view, change, coloring, row, lane, dark }: Props) {
  const element = useRef<HTMLCanvasElement>(null)
  const [at, setAt] = useState<Place | null>(null)
  const { lanes, deeper } = useMemo(() => levelsOf(model, lane), [model, lane])
  const inks = useMemo(() => new Inks({ colors: levelColors(coloring), lit: null }), [coloring])
  const paths = model.head.paths.length
  const name = (kind: number) => kind > paths ? model.head.waits[kind - paths] : model.names[kind - 1]
  useDrawing(element, () => paint(element.current!, lanes, inks, view, name, dark))

  // found is the run that was pointed at, if there still is one.
  const found = at && lanes[at.level]?.kind[at.run] ? at : null
  const middle = (p: Place) => {
    const { start } = lanes[p.level]
    return (Math.max(start[p.run], view.from) + Math.min(start[p.run + 1], view.to)) / 2
  }
  const place = (level: number, t: number): Place | null => lanes[level]?.kind.length ? { level, run: indexAt(lanes[level], t) } : null
  const point = (e: PointerEvent) => {
    const box = element.current!.getBoundingClientRect(), left = gutter(box.width), x = e.clientX - box.left
    return x < left || x > box.width - 8 ? null : place(Math.floor((e.clientY - box.top) / levelHeight), view.from + (x - left) / (box.width - left - 8) * (view.to - view.from))
  }
  // beside returns the next run of the level in which something is called.
  const beside = (p: Place, way: 1 | -1): Place => {
    let run = p.run + way
    while (run >= 0 && run < lanes[p.level].kind.length && !lanes[p.level].kind[run]) run += way
    return run >= 0 && run < lanes[p.level].kind.length ? { level: p.level, run } : p
  }
  const read = (to: Place | null) => {
    if (!to) return
    setAt(to)
    const { start } = lanes[to.level], span = view.to - view.from
    if (start[to.run] < view.to && start[to.run + 1] > view.from) return
    const from = Math.min(Math.max(start[to.run] - span / 2, 0), Math.max(model.head.length_ns - span, 0))
    change({ from, to: from + span })
  }
  const choose = (p: Place | null) => {
    const kind = p ? lanes[p.level].kind[p.run] : 0
    if (kind > 0 && kind <= paths) change({ path: kind - 1, place: -1 })
  }
  const keys = (k: KeyboardEvent) => {
    const now = found ?? place(0, (view.from + view.to) / 2)
    if (!now) return
    const does: Record<string, () => void> = {
      ArrowLeft: () => read(beside(now, -1)), ArrowRight: () => read(beside(now, 1)),
      ArrowUp: () => read(place(Math.max(now.level - 1, 0), middle(now))), ArrowDown: () => read(place(Math.min(now.level + 1, lanes.length - 1), middle(now))),
      ' ': () => choose(now), Escape: () => found ? setAt(null) : change({ row: -1 }),
    }
    if (does[k.key] && !k.ctrlKey && !k.metaKey && !k.altKey) { k.preventDefault(); does[k.key]() }
  }
  const title = `Levels of calls of ${model.rowName(row)}`
  return <div class="levels" role="group" aria-label={title}>
    <div class="tools"><b>{title}</b>
      {lane.step > 1 && <span class="faint">in steps of {time(lane.step)}</span>}
      {deeper && <span class="faint">those below level {mostLevels} are left out</span>}
      {lanes.length === 0 && <span class="faint">no region is entered</span>}
      <button onClick={() => change({ row: -1 })}>Close</button></div>
    <div class="timeline">
      <canvas ref={element} tabIndex={0} role="img" style={{ height: `${Math.max(lanes.length, 1) * levelHeight}px` }} onKeyDown={keys}
        onPointerMove={(e: PointerEvent) => setAt(point(e))} onPointerLeave={() => setAt(null)} onClick={(e: MouseEvent) => choose(point(e as PointerEvent))}
        aria-label={`${title}, ${lanes.length} of them. Keys: arrows read calls, space chooses the path, Escape ends.`} />
      <div role="status">{found && <Told {...{ model, view, name, row, width: element.current!.clientWidth }} lane={lanes[found.level]} place={found} />}</div>
    </div>
  </div>
}

function Told({ model, view, name, row, lane, place: { level, run }, width }: { model: Model; view: View; name: (kind: number) => string; row: number; lane: Lane; place: Place; width: number }) {
  const kind = lane.kind[run], from = lane.start[run], to = lane.start[run + 1], path = kind <= model.head.paths.length ? kind - 1 : -1
  const left = gutter(width), x = left + (Math.min(Math.max((from + to) / 2, view.from), view.to) - view.from) / (view.to - view.from) * (width - left - 8)
  return <div class="tooltip" style={{ left: `${Math.min(x + 14, Math.max(width - 340, 0))}px`, top: `${(level + 1) * levelHeight + 4}px` }}>
    <b class={path < 0 ? 'wait' : ''}>{name(kind)}</b>
    <div>{model.rowName(row)} · {time(to - from)}, {share((to - from) / model.head.length_ns)} of the run{lane.step > 1 && ` (shown in steps of ${time(lane.step)})`}</div>
    <div class="faint">from {instant(from, (to - from) / 10)} to {instant(to, (to - from) / 10)}</div>
    {path >= 0 && <div class="faint">{model.where(path)}</div>}
  </div>
}

// leastLabel is how wide a run must be to be named, px.
const leastLabel = 34

// paint draws the levels under the timeline's time, and names what has room for it.
function paint(e: HTMLCanvasElement, lanes: Lane[], inks: Inks, view: View, name: (kind: number) => string, dark: boolean) {
  const scale = window.devicePixelRatio || 1, width = e.clientWidth, height = e.clientHeight, left = gutter(width), plot = Math.max(width - left - 8, 10)
  e.width = Math.round(width * scale)
  e.height = Math.round(height * scale)
  const c = e.getContext('2d')!, w = Math.round(plot * scale), h = e.height
  if (!w || !h || !lanes.length) return
  const pixels = new ImageData(w, h)
  columns(new Uint32Array(pixels.data.buffer), w, h, { lanes, order: lanes.map((_, k) => k), inks, from: view.from, perPixel: (view.to - view.from) / w }, 0, w)
  c.putImageData(pixels, Math.round(left * scale), 0)
  c.setTransform(scale, 0, 0, scale, 0, 0)
  c.font = '11px system-ui, sans-serif'
  c.textBaseline = 'middle'
  const full = inks.shared(1), x = (t: number) => left + Math.min(Math.max((t - view.from) / (view.to - view.from), 0), 1) * plot
  lanes.forEach(({ start, kind }, level) => {
    const least = leastLabel / plot * (view.to - view.from)
    for (let i = kind.length ? indexAt({ start, kind }, view.from) : 0; i < kind.length && start[i] < view.to; i++) {
      if (!kind[i] || start[i + 1] - start[i] < least) continue
      const a = x(start[i]), b = x(start[i + 1]), ink = full[kind[i]]
      if (b - a < leastLabel) continue
      c.fillStyle = dark ? '#1c2229' : '#ffffff' // where one ends and the next begins
      c.fillRect(a, level * levelHeight, 1, levelHeight - 1)
      c.fillStyle = 0.3 * (ink & 255) + 0.6 * (ink >> 8 & 255) + 0.1 * (ink >> 16 & 255) > 120 ? '#000000' : '#ffffff'
      const text = fitted(name(kind[i]), b - a - 8, c)
      c.fillText(text, a + 4, (level + 0.5) * levelHeight)
    }
  })
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
