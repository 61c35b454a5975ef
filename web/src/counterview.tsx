// Counters as curves below the timeline, and as its colors.

import { h } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import { gutter } from './canvas'
import { added, askCurves, columns, css, extent, piece, quantity, shaded, valueAt, type Columns, type Counter, type Curve } from './curves'
import type { Lane } from './data'
import { useDrawing } from './drawing'
import { useFiner } from './finer'
import type { Model } from './model'
import { Tip } from './tip'
import type { View } from './view'
import { instant, time } from './units'

// Curves that are shown: a counter, all rows added up or each for itself.
export interface Shown { name: string; rows: boolean }

interface Props { model: Model; view: View; order: number[]; dark: boolean }

const curveOf = (model: Model, counter: number) => model.timeline.curves.filter(c => c.counter === counter)

// useCurves returns the curves of a counter as finely as they can be seen, asked from the server if
// there is one and the page's own are too coarse.
function useCurves(model: Model, view: View, counter: number): Curve[] {
  const own = useMemo(() => curveOf(model, counter), [model, counter]), enough = own.every(c => c.row >= 0 && c.step <= Math.max((view.to - view.from) / 1600, 1))
  const ask = model.head.served && counter >= 0 && !enough ? (from: number, to: number, stop: AbortSignal) => askCurves(model.address, counter, from, to, 3200, stop) : null
  return useFiner(ask, view, model.head.length_ns, own)?.curves ?? own
}

// useShades returns the timeline's lanes and the scale if it is colored by a counter.
export function useShades(model: Model, view: View): { lanes: Lane[]; counter: Counter; scale: [number, number] } | null {
  const name = view.color.startsWith('counter:') ? view.color.slice(8) : ''
  const k = name ? model.head.counters.findIndex(c => c.name === name) : -1
  const curves = useCurves(model, view, k)
  const scale = useMemo(() => extent(curveOf(model, k).map(c => columns(c, 0, model.head.length_ns, 2000)), model.head.counters[k]?.rate), [model, k])
  const lanes = useMemo(() => shaded(model.head, curves, scale), [model, curves, scale])
  return k < 0 ? null : { lanes, counter: model.head.counters[k], scale }
}

// byRow reports whether a counter has a curve for each row, and not their sum alone.
export function byRow(model: Model, counter: number): boolean { return curveOf(model, counter).every(c => c.row >= 0) }

export function ShadeLegend({ counter, scale: [low, high] }: { counter: Counter; scale: [number, number] }) {
  return <ul class="legend"><li>{counter.name}:</li>{[0, 0.25, 0.5, 0.75, 1].map(s => <li><span class="swatch" style={{ background: css(s) }} />{quantity(low + s * (high - low), counter)}</li>)}</ul>
}

// Counters are the curves that are chosen, and the choice.
export function Counters(p: Props & { shown: Shown[]; change: (v: Partial<View>) => void }) {
  const { model, shown, change } = p, { counters } = model.head
  if (!counters.length) return null
  return <div class="counters" role="group" aria-label="Counters">
    {shown.map((s, i) => {
      const k = counters.findIndex(c => c.name === s.name)
      if (k < 0) return null
      return <div class="counter" key={s.name + s.rows}>
        <div class="tools"><b>{s.name}</b>
          <label>Rows <select value={s.rows ? 'rows' : 'sum'} onChange={e => change({ counters: shown.map((o, j) => j === i ? { ...o, rows: e.currentTarget.value === 'rows' } : o) })}>
            <option value="sum">added up</option><option value="rows" disabled={!byRow(model, k)}>each</option></select></label>
          <button aria-label={`Hide ${s.name}`} onClick={() => change({ counters: shown.filter((_, j) => j !== i) })}>Hide</button></div>
        <CurvePanel {...p} counter={k} rows={s.rows && byRow(model, k)} />
      </div>
    })}
  </div>
}

const sumHeight = 96

// A CurvePanel draws the curves of one counter under the timeline's time.
function CurvePanel({ model, view, order, dark, counter, rows }: Props & { counter: number; rows: boolean }) {
  const element = useRef<HTMLCanvasElement>(null)
  const [at, setAt] = useState<{ t: number; lane: number } | null>(null)
  const curves = useCurves(model, view, counter), what = model.head.counters[counter]
  const lanes: { name: string; curves: Curve[] }[] = useMemo(() => rows ?
    order.filter(r => curves.some(c => c.row === r)).map(r => ({ name: model.rowName(r), curves: curves.filter(c => c.row === r) })) : [{ name: 'all rows', curves }], [model, curves, order, rows])
  const height = rows ? Math.min(Math.max(lanes.length * 34, 60), 560) : sumHeight
  const draw = () => {
    const e = element.current!
    const w = Math.max(Math.round(e.clientWidth - gutter(e.clientWidth) - 8), 10)
    const parts = lanes.map(l => added(l.curves, view.from, view.to, w))
    paint(e, parts, lanes.map(l => rows ? l.name : ''), extent(parts, what.rate), what, dark, at && { x: (at.t - view.from) / (view.to - view.from) * w, lane: at.lane })
  }
  useDrawing(element, draw)
  const move = (e: PointerEvent) => {
    const box = element.current!.getBoundingClientRect(), left = gutter(box.width), x = e.clientX - box.left
    const lane = Math.floor((e.clientY - box.top) / box.height * lanes.length)
    setAt(x < left || x > box.width - 8 || lane < 0 || lane >= lanes.length ? null : { t: view.from + (x - left) / (box.width - left - 8) * (view.to - view.from), lane })
  }
  const keys = (k: KeyboardEvent) => {
    const now = at ?? { t: (view.from + view.to) / 2, lane: 0 }, step = (view.to - view.from) / 50
    const does: Record<string, { t: number; lane: number } | null> = {
      ArrowLeft: { ...now, t: Math.max(now.t - step, view.from) }, ArrowRight: { ...now, t: Math.min(now.t + step, view.to) },
      ArrowUp: { ...now, lane: Math.max(now.lane - 1, 0) }, ArrowDown: { ...now, lane: Math.min(now.lane + 1, lanes.length - 1) }, Escape: null,
    }
    if (k.key in does && !k.ctrlKey && !k.metaKey && !k.altKey) { k.preventDefault(); setAt(does[k.key]) }
  }
  return <div class="timeline">
    <canvas ref={element} class="curves" tabIndex={0} role="img" style={{ height: `${height}px` }} onPointerMove={move} onPointerLeave={() => setAt(null)} onKeyDown={keys}
      aria-label={`${what.name}, ${rows ? `${lanes.length} rows` : 'added up over all rows'}, from ${instant(view.from, (view.to - view.from) / 100)} to ${instant(view.to, (view.to - view.from) / 100)}. Keys: arrows read values, Escape ends.`} />
    <div role="status">{at && lanes[at.lane] && <Reading counter={what} lane={lanes[at.lane]} t={at.t} left={gutter(element.current!.clientWidth) + (at.t - view.from) / (view.to - view.from) * (element.current!.clientWidth - gutter(element.current!.clientWidth) - 8)}
      top={height / lanes.length * (at.lane + 1)} />}</div>
  </div>
}

function Reading({ counter, lane, t, left, top }: { counter: Counter; lane: { name: string; curves: Curve[] }; t: number; left: number; top: number }) {
  const one = lane.curves.length === 1 ? lane.curves[0] : null, i = one ? piece(one, t) : -1
  const step = lane.curves.reduce((s, c) => Math.max(s, c.step), 1)
  return <Tip x={left} y={top - 12}>
    <b>{quantity(valueAt(lane.curves, t), counter)}</b> {counter.name}
    <div>{lane.name} at {instant(t, step)}{step > 1 && ` (mean of ${time(step)})`}</div>
    {one && i >= 0 && one.max[i] > one.min[i] && <div class="faint">between {quantity(one.min[i], counter)} and {quantity(one.max[i], counter)}</div>}
  </Tip>
}

// paint draws lanes of columns, one below the other on one scale: the mean as a filled step, and
// from the least to the greatest value a lighter band.
function paint(e: HTMLCanvasElement, parts: Columns[], names: string[], [low, high]: [number, number], counter: Counter, dark: boolean, cursor: { x: number; lane: number } | null) {
  const scale = window.devicePixelRatio || 1, width = e.clientWidth, height = e.clientHeight, left = gutter(width)
  e.width = Math.round(width * scale)
  e.height = Math.round(height * scale)
  const c = e.getContext('2d')!
  c.setTransform(scale, 0, 0, scale, 0, 0)
  const each = height / Math.max(parts.length, 1), zero = Math.min(Math.max(0, low), high)
  c.font = '11px system-ui, sans-serif'
  c.textAlign = 'right'
  parts.forEach(({ mean, min, max }, k) => {
    const top = k * each + 2, h = each - 4, y = (v: number) => top + h * (1 - (v - low) / (high - low))
    for (let x = 0; x < mean.length; x++) {
      if (mean[x] !== mean[x]) continue
      c.fillStyle = dark ? '#56b4e950' : '#0072b240'
      const up = Math.max(y(max[x]), top), down = Math.min(y(min[x]), top + h)
      c.fillRect(left + x, up, 1, Math.max(down - up, 0))
      c.fillStyle = dark ? '#56b4e9' : '#0072b2'
      const [a, b] = [y(mean[x]), y(zero)].sort((p, q) => p - q)
      c.fillRect(left + x, a, 1, Math.max(b - a, 1))
    }
    c.fillStyle = dark ? '#39424d' : '#d5dae0'
    if (k > 0) c.fillRect(left, k * each, mean.length, 1)
    c.fillStyle = dark ? '#d7dde4' : '#2b3138'
    c.textBaseline = 'middle'
    if (names[k]) {
      let text = names[k]
      while (text.length > 4 && c.measureText(text).width > left - 12) text = text.slice(0, Math.floor(text.length * 0.9) - 1) + '…'
      if (each >= 12 || k % Math.ceil(12 / each) === 0) c.fillText(text, left - 6, top + h / 2)
    }
    if (cursor?.lane === k) c.fillRect(left + cursor.x, k * each, 1, each)
  })
  c.textBaseline = 'top'
  if (!names[0]) {
    c.fillText(quantity(high, counter), left - 6, 3)
    c.textBaseline = 'bottom'
    c.fillText(quantity(low, counter), left - 6, height - 3)
  } else {
    c.textAlign = 'left'
    const text = `each from ${quantity(low, counter)} to ${quantity(high, counter)}`
    c.fillStyle = dark ? '#1c2229d0' : '#ffffffd0'
    c.fillRect(left + 2, 1, c.measureText(text).width + 6, 14)
    c.fillStyle = dark ? '#d7dde4' : '#2b3138'
    c.fillText(text, left + 5, 3)
  }
}
