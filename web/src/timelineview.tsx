import { h } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Canvas, ruler, type Hit, type Scene } from './canvas'
import { detail, type Detail, type Lane } from './data'
import { shades } from './curves'
import type { Phase } from './phasemarks'
import type { Coloring, Model } from './model'
import type { View } from './view'
import { instant, time } from './units'

interface Props {
  model: Model
  view: View
  change: (v: Partial<View>) => void
  coloring: Coloring
  order: number[]
  lit: Uint8Array | null
  marked: number[] // ranks
  phases: Phase[]
  shaded: Lane[] | null // drawn instead of what happens
  dark: boolean
  bounds?: [number, number] // of what can be looked at, in the timeline's time; else all of it
}

// TimelineView is the timeline with all that can be done to it by wheel, drag, keys and touch.
export function TimelineView({ model, view, change, coloring, order, lit, marked, phases, shaded, dark, bounds }: Props) {
  const element = useRef<HTMLCanvasElement>(null)
  const canvas = useRef<Canvas | null>(null)
  const [hover, setHover] = useState<{ hit: Hit; x: number; y: number } | null>(null)
  const [first, last] = bounds ?? [0, model.head.length_ns]
  const fine = useDetail(model, view)
  const scene: Scene = {
    timeline: model.timeline, detail: fine, order, colors: coloring.of, lit, from: view.from, to: view.to, select: view.select,
    messages: view.messages, critical: view.critical, labels: r => model.label(r), marked: r => marked.includes(model.head.rows[r].rank), phases, dark,
  }
  const painted: Scene = shaded ? { ...scene, timeline: { ...scene.timeline, lanes: shaded }, detail: fine && { ...fine, lanes: shaded }, colors: shades, lit: null } : scene
  const latest = useRef(scene)
  latest.current = scene
  const picture = useRef(painted)
  picture.current = painted
  const state = useRef({ view, change, first, last })
  state.current = { view, change, first, last }

  const height = useMemo(() => ruler + Math.min(Math.max(order.length * 22, 120), 560), [order.length])

  useLayoutEffect(() => {
    canvas.current = new Canvas(element.current!)
    const watch = new ResizeObserver(() => canvas.current!.draw(picture.current))
    watch.observe(element.current!)
    return () => watch.disconnect()
  }, [])
  // Whatever changes before a frame is drawn with it, once.
  const frame = useRef(0)
  useLayoutEffect(() => {
    frame.current ||= requestAnimationFrame(() => { frame.current = 0; canvas.current!.draw(picture.current) })
  })

  const show = (from: number, to: number) => {
    const { first, last, change } = state.current, length = last - first
    const span = Math.min(Math.max(to - from, Math.min(10, length)), length)
    from = Math.min(Math.max(from, first), last - span)
    change({ from, to: from + span })
  }
  const zoom = (factor: number, at: number) => {
    const v = state.current.view
    show(at - (at - v.from) * factor, at + (v.to - at) * factor)
  }

  useEffect(() => {
    const e = element.current!
    const where = (p: { clientX: number; clientY: number }) => {
      const box = e.getBoundingClientRect()
      return [p.clientX - box.left, p.clientY - box.top] as const
    }
    const wheel = (p: WheelEvent) => {
      if (!p.ctrlKey && !p.shiftKey && Math.abs(p.deltaX) <= Math.abs(p.deltaY) && where(p)[0] < canvas.current!.left) return
      p.preventDefault()
      const v = state.current.view, span = v.to - v.from
      if (p.shiftKey || Math.abs(p.deltaX) > Math.abs(p.deltaY)) {
        const d = (p.deltaX || p.deltaY) / canvas.current!.plot * span
        show(v.from + d, v.to + d)
      } else zoom(Math.exp(p.deltaY * 0.0015), canvas.current!.timeAt(latest.current, where(p)[0]))
    }
    // One pointer pans, or selects where it begins on the ruler or with shift; two zoom.
    const pointers = new Map<number, number>()
    let drag: { x: number; from: number; to: number; select: boolean; moved: boolean } | null = null
    let pinch = 0
    const down = (p: PointerEvent) => {
      const [x, y] = where(p)
      e.setPointerCapture(p.pointerId)
      pointers.set(p.pointerId, x)
      const v = state.current.view
      drag = { x, from: v.from, to: v.to, select: p.shiftKey || y < ruler, moved: false }
      pinch = pointers.size === 2 ? distance() : 0
    }
    const distance = () => { const [a, b] = [...pointers.values()]; return Math.max(Math.abs(a - b), 1) }
    const move = (p: PointerEvent) => {
      const [x, y] = where(p)
      if (!pointers.has(p.pointerId)) {
        const hit = canvas.current!.hit(latest.current, x, y)
        setHover(hit && { hit, x, y })
        return
      }
      pointers.set(p.pointerId, x)
      if (pointers.size === 2) {
        const now = distance(), xs = [...pointers.values()]
        zoom(pinch / now, canvas.current!.timeAt(latest.current, (xs[0] + xs[1]) / 2))
        pinch = now
        return
      }
      if (!drag || Math.abs(x - drag.x) < 3 && !drag.moved) return
      drag.moved = true
      setHover(null)
      const span = drag.to - drag.from, plot = canvas.current!.plot
      const at = (px: number) => Math.min(Math.max(drag!.from + (px - canvas.current!.left) / plot * span, state.current.first), state.current.last)
      if (drag.select) {
        const [a, b] = [at(drag.x), at(x)].sort((p, q) => p - q)
        state.current.change({ select: b > a ? [a, b] : null })
      } else show(drag.from - (x - drag.x) / plot * span, drag.to - (x - drag.x) / plot * span)
    }
    const up = (p: PointerEvent) => {
      const [x, y] = where(p)
      if (drag && !drag.moved && pointers.size === 1) {
        const hit = canvas.current!.hit(latest.current, x, y)
        const path = hit ? model.head.activities[hit.lane.kind[hit.run]][0] : -1
        state.current.change(drag.select ? { select: null } : { path, place: -1 })
      }
      pointers.delete(p.pointerId)
      drag = null
    }
    const leave = () => setHover(null)
    e.addEventListener('wheel', wheel, { passive: false })
    e.addEventListener('pointerdown', down)
    e.addEventListener('pointermove', move)
    e.addEventListener('pointerup', up)
    e.addEventListener('pointercancel', up)
    e.addEventListener('pointerleave', leave)
    return () => {
      e.removeEventListener('wheel', wheel)
      e.removeEventListener('pointerdown', down)
      e.removeEventListener('pointermove', move)
      e.removeEventListener('pointerup', up)
      e.removeEventListener('pointercancel', up)
      e.removeEventListener('pointerleave', leave)
    }
  }, [])

  const keys = (k: KeyboardEvent) => {
    const span = view.to - view.from, middle = (view.from + view.to) / 2
    const does: Record<string, () => void> = {
      w: () => zoom(0.7, middle), s: () => zoom(1 / 0.7, middle),
      a: () => show(view.from - span / 6, view.to - span / 6), d: () => show(view.from + span / 6, view.to + span / 6),
      Home: () => show(first, last), Escape: () => change({ select: null, path: -1, place: -1 }),
      Enter: () => change({ select: [view.from, view.to] }),
    }
    Object.assign(does, { ArrowLeft: does.a, ArrowRight: does.d, '+': does.w, '-': does.s, '0': does.Home })
    if (does[k.key] && !k.ctrlKey && !k.metaKey && !k.altKey) { k.preventDefault(); does[k.key]() }
  }

  return <div class="timeline">
    <canvas ref={element} tabIndex={0} role="img" style={{ height: `${height}px` }} onKeyDown={keys}
      aria-label={`Timeline of ${order.length} rows from ${instant(view.from, (view.to - view.from) / 100)} to ${instant(view.to, (view.to - view.from) / 100)}. Keys: w and s zoom, a and d move, Home shows all, Enter selects what is shown, Escape clears.`} />
    {hover && <Tooltip model={model} hit={hover.hit} phases={phases} x={hover.x} y={hover.y} width={element.current!.clientWidth} />}
  </div>
}

// useDetail asks the server, if there is one, for what the page's own timeline is too coarse to
// show, and for as much again on both sides, so that moving shows something at once.
function useDetail(model: Model, view: View): Detail | null {
  const [fine, setFine] = useState<Detail | null>(null)
  const { head } = model
  useEffect(() => {
    const span = view.to - view.from
    const whole = head.rows.every(r => r.step_ns <= Math.max(span / 1600, 1)) && model.timeline.messages.sent.length === head.messages_of
    const [first, last] = [Math.max(view.from, 0), Math.min(view.to, head.length_ns)] // of another run more is looked at
    if (!head.served || whole || last <= first || fine && fine.from <= first && last <= fine.to && fine.to - fine.from < 4 * span) return
    const stop = new AbortController()
    const id = setTimeout(() => {
      detail(model.address, head, Math.max(view.from - span / 2, 0), Math.min(view.to + span / 2, head.length_ns), 3200, stop.signal).then(setFine, err => {
        if (!stop.signal.aborted) console.error(err)
      })
    }, 60)
    return () => { clearTimeout(id); stop.abort() }
  }, [model, view.from, view.to, fine])
  return fine
}

function Tooltip({ model, hit, phases, x, y, width }: { model: Model; hit: Hit; phases: Phase[]; x: number; y: number; width: number }) {
  const head = model.head, lane = hit.lane
  const [path, wait] = head.activities[lane.kind[hit.run]]
  const from = lane.start[hit.run], to = lane.start[hit.run + 1]
  const phase = phases.find(p => p.from <= hit.time && hit.time < p.to)
  return <div class="tooltip" style={{ left: `${Math.min(x + 14, Math.max(width - 340, 0))}px`, top: `${y + 16}px` }}>
    <b>{path < 0 ? 'nothing recorded' : model.names[path]}</b>{wait > 0 && <span class="wait"> {head.waits[wait]}</span>}
    <div>{model.rowName(hit.row)} · {time(to - from)}{lane.step > 1 && ` (shown in steps of ${time(lane.step)})`}</div>
    <div class="faint">from {instant(from, (to - from) / 10)} to {instant(to, (to - from) / 10)}{phase && `, in phase ${phase.number}`}</div>
    {path >= 0 && <div class="faint">{model.where(path)}</div>}
    {path >= 0 && <ol class="stack">{model.pathRegions(path).slice(-8).map(p => <li>{model.names[p]}</li>)}</ol>}
  </div>
}

