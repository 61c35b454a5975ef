// The whole run above the timeline, with the window through which it is looked at.

import { h } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { useDrawing } from './drawing'
import { listen } from './listen'
import type { Model } from './model'
import { share, time } from './units'

interface Props { model: Model; from: number; to: number; show: (from: number, to: number) => void; bounds: [number, number]; dark: boolean }

const bins = 400, height = 34

// edge is how near to an end of the window it is that which is dragged, px.
const edge = 6

// Overview shows which share of rows waits when, or of devices idles; the window is moved, and its ends, by dragging, and a drag
// beside it draws another.
export function Overview({ model, from, to, show, bounds: [first, last], dark }: Props) {
  const element = useRef<HTMLDivElement>(null), mark = useRef<HTMLCanvasElement>(null)
  const { what, doing, shares } = useMemo(() => model.lost(first, last, bins), [model, first, last])
  const latest = useRef({ from, to, show, first, last })
  latest.current = { from, to, show, first, last }
  useEffect(() => {
    const e = element.current!
    let drag: { at: number; from: number; to: number; does: 'move' | 'from' | 'to' | 'draw' } | null = null
    const timeOf = (p: PointerEvent) => {
      const box = e.getBoundingClientRect(), { first, last } = latest.current
      return first + Math.min(Math.max((p.clientX - box.left) / box.width, 0), 1) * (last - first)
    }
    const down = (p: PointerEvent) => {
      const { from, to, first, last } = latest.current, at = timeOf(p), near = edge / e.clientWidth * (last - first), whole = from <= first && to >= last
      e.setPointerCapture(p.pointerId)
      drag = { at, from, to, does: whole ? 'draw' : Math.abs(at - from) < near ? 'from' : Math.abs(at - to) < near ? 'to' : at > from && at < to ? 'move' : 'draw' }
    }
    const move = (p: PointerEvent) => {
      if (!drag) return
      const { show, first, last } = latest.current, at = timeOf(p), by = at - drag.at
      if (drag.does === 'move') {
        const begin = Math.min(Math.max(drag.from + by, first), last - (drag.to - drag.from))
        return show(begin, begin + drag.to - drag.from)
      }
      const ends = [drag.does === 'draw' ? drag.at : drag.does === 'from' ? drag.to : drag.from, at].sort((a, b) => a - b)
      if (ends[1] - ends[0] > (last - first) / e.clientWidth) show(ends[0], ends[1])
    }
    const up = () => {
      const { from, to, show, first, last } = latest.current
      if (drag?.does === 'draw' && from === drag.from && to === drag.to && to - from < last - first) { // a click moves the window there
        const begin = Math.min(Math.max(drag.at - (to - from) / 2, first), last - (to - from))
        show(begin, begin + to - from)
      }
      drag = null
    }
    return listen(e, { pointerdown: down, pointermove: move, pointerup: up, pointercancel: up })
  }, [])
  const most = shares.reduce((m, v) => Math.max(m, v), 0), mean = shares.reduce((s, v) => s + v, 0) / bins
  const curve = useMemo(() => <svg viewBox={`0 0 ${bins} 1`} preserveAspectRatio="none" role="img" aria-label={`${what} over the run of ${time(last - first)}: mean ${share(mean)}, at most ${share(most)}, at ${time(first + (shares.indexOf(most) + 0.5) / bins * (last - first))}`} height={height}>
    <path d={`M0 1${Array.from(shares, (v, k) => `V${(1 - v).toFixed(3)}H${k + 1}`).join('')}V1Z`} />
  </svg>, [shares])
  // The window is drawn: to move an element takes the browser several times as long, on a page with many.
  useDrawing(mark, () => {
    const e = mark.current!, c = e.getContext('2d')!, width = e.clientWidth, [a, b] = [from, to].map(t => Math.min(Math.max((t - first) / (last - first), 0), 1) * width), w = Math.max(b - a, 3)
    if (e.width !== width) e.width = width
    c.clearRect(0, 0, width, height)
    c.strokeStyle = dark ? '#7db8f7' : '#0b5cad'
    c.fillStyle = c.strokeStyle + '24'
    c.lineWidth = 2
    c.fillRect(a, 0, w, height)
    c.strokeRect(a + 1, 1, w - 2, height - 2)
  })
  return <div class="overview">
    <span class="faint" title={`${what}: mean ${share(mean)}, at most ${share(most)} at a time`}>{what}</span>
    <div ref={element} class={doing ? 'strip doing' : 'strip'}>
      {curve}
      <canvas ref={mark} class="window" height={height} />
    </div>
  </div>
}
