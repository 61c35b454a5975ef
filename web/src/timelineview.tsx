import { h } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Canvas, laneOf, ruler, type Hit, type Scene } from './canvas'
import { detail, indexAt, type Detail, type Lane } from './data'
import { shades } from './curves'
import { printing } from './dark'
import { LevelsView } from './levelsview'
import { partners } from './partners'
import { fitBand, type Band } from './rows'
import type { Phase } from './phasemarks'
import type { Coloring, Model } from './model'
import type { View } from './view'
import { instant, time } from './units'

interface Props {
  model: Model
  view: View
  change: (v: Partial<View>) => void
  coloring: Coloring
  order: number[]  // rows from top to bottom
  arranged: number // of how many, of which view.band are these
  lit: Uint8Array | null
  marked: number[] // ranks
  phases: Phase[]
  shaded: Lane[] | null // drawn instead of what happens
  dark: boolean
  bounds?: [number, number] // of what can be looked at, in the timeline's time; else all of it
}

// TimelineView is the timeline with all that can be done to it by wheel, drag, keys and touch.
export function TimelineView({ model, view, change, coloring, order, arranged, lit, marked, phases, shaded, dark, bounds }: Props) {
  const element = useRef<HTMLCanvasElement>(null)
  const around = useRef<HTMLDivElement>(null)
  const canvas = useRef<Canvas | null>(null)
  const [hover, setHover] = useState<{ hit: Hit; x: number; y: number } | null>(null)
  const [grip, setGrip] = useState<[number, number] | null>(null) // from where to where names are dragged over, px
  const [first, last] = bounds ?? [0, model.head.length_ns]
  const fine = useDetail(model, view)
  const scene: Scene = {
    timeline: model.timeline, detail: fine, order, colors: coloring.of, lit, from: view.from, to: view.to, select: view.select,
    messages: view.messages, critical: view.critical, labels: r => model.label(r), marked: r => r === view.row || marked.includes(model.head.rows[r].rank), phases, dark,
  }
  const painted: Scene = shaded ? { ...scene, timeline: { ...scene.timeline, lanes: shaded }, detail: fine && { ...fine, lanes: shaded }, colors: shades, lit: null } : scene
  const latest = useRef(scene)
  latest.current = scene
  const picture = useRef(painted)
  picture.current = painted
  const state = useRef({ view, change, first, last, order, arranged })
  state.current = { view, change, first, last, order, arranged }

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
    if (printing) canvas.current!.draw(picture.current)
    else frame.current ||= requestAnimationFrame(() => { frame.current = 0; canvas.current!.draw(picture.current) })
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
  const bandNow = (): Band => { const { view, order, arranged } = state.current; return view.band && order.length < arranged ? view.band : [0, arranged] }
  const showRows = (band: Band) => state.current.change({ band: fitBand(band, state.current.arranged) })
  const zoomRows = (factor: number) => {
    const [a, b] = bandNow(), n = b - a, half = Math.max(factor < 1 ? Math.floor(n * factor) : Math.ceil(n * factor), 1) / 2
    showRows([(a + b) / 2 - half, (a + b) / 2 + half])
  }
  const moveRows = (by: number) => { const [a, b] = bandNow(); showRows([a + by, b + by]) }

  useEffect(() => {
    const e = around.current!
    const where = (p: { clientX: number; clientY: number }) => {
      const box = element.current!.getBoundingClientRect()
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
    // One pointer pans, or selects where it begins on the ruler or with shift, or rows where it begins
    // on their names; two zoom.
    const pointers = new Map<number, readonly [x: number, y: number]>()
    let drag: { x: number; y: number; from: number; to: number; band: Band; does: 'move' | 'select' | 'rows'; moved: boolean } | null = null
    let pinch = 0
    const down = (p: PointerEvent) => {
      const [x, y] = where(p)
      e.setPointerCapture(p.pointerId)
      pointers.set(p.pointerId, [x, y])
      const v = state.current.view
      drag = { x, y, from: v.from, to: v.to, band: bandNow(), does: p.shiftKey || y < ruler ? 'select' : x < canvas.current!.left ? 'rows' : 'move', moved: false }
      pinch = pointers.size === 2 ? distance() : 0
      if (pinch) setGrip(null)
    }
    const distance = () => {
      const [a, b] = [...pointers.values()], axis = drag?.does === 'rows' ? 1 : 0
      return Math.max(Math.abs(a[axis] - b[axis]), 1)
    }
    const move = (p: PointerEvent) => {
      const [x, y] = where(p)
      if (!pointers.has(p.pointerId)) {
        const hit = canvas.current!.hit(latest.current, x, y)
        setHover(hit && { hit, x, y })
        return
      }
      pointers.set(p.pointerId, [x, y])
      if (pointers.size === 2) {
        const now = distance(), [a, b] = [...pointers.values()]
        if (drag?.does !== 'rows') zoom(pinch / now, canvas.current!.timeAt(latest.current, (a[0] + b[0]) / 2))
        else if (Math.abs(now - pinch) < 12) return // px, so that rows do not come and go with every tremble
        else zoomRows(pinch / now)
        pinch = now
        return
      }
      if (!drag || Math.hypot(x - drag.x, y - drag.y) < 3 && !drag.moved) return
      drag.moved = true
      setHover(null)
      const span = drag.to - drag.from, plot = canvas.current!.plot
      const at = (px: number) => Math.min(Math.max(drag!.from + (px - canvas.current!.left) / plot * span, state.current.first), state.current.last)
      if (drag.does === 'rows') {
        setGrip([Math.max(Math.min(drag.y, y), ruler), Math.max(drag.y, y)])
      } else if (drag.does === 'select') {
        const [a, b] = [at(drag.x), at(x)].sort((p, q) => p - q)
        state.current.change({ select: b > a ? [a, b] : null })
      } else {
        show(drag.from - (x - drag.x) / plot * span, drag.to - (x - drag.x) / plot * span)
        const by = Math.round((drag.y - y) / canvas.current!.rowHeight(latest.current))
        if (drag.band[1] - drag.band[0] < state.current.arranged) showRows([drag.band[0] + by, drag.band[1] + by])
      }
    }
    const up = (p: PointerEvent) => {
      const [x, y] = where(p)
      if (drag?.does === 'rows' && pointers.size === 1) {
        const at = (y: number) => drag!.band[0] + Math.min(Math.max((y - ruler) / canvas.current!.rowHeight(latest.current), 0), state.current.order.length)
        const ends = [at(drag.y), at(y)].sort((a, b) => a - b)
        const row = state.current.order[Math.floor(ends[0]) - bandNow()[0]]
        if (drag.moved) showRows([Math.floor(ends[0]), Math.ceil(ends[1])])
        else if (row !== undefined) state.current.change({ row: state.current.view.row === row ? -1 : row })
        setGrip(null)
      } else if (drag && !drag.moved && pointers.size === 1) {
        const hit = canvas.current!.hit(latest.current, x, y)
        const path = hit ? model.head.activities[hit.lane.kind[hit.run]][0] : -1
        state.current.change(drag.does === 'select' ? { select: null } : { path, place: -1 })
      }
      pointers.delete(p.pointerId)
      drag = null
    }
    const leave = () => setHover(null)
    const cancel = (p: PointerEvent) => { // the browser has the gesture for itself
      pointers.delete(p.pointerId)
      drag = null
      setGrip(null)
    }
    e.addEventListener('wheel', wheel, { passive: false })
    e.addEventListener('pointerdown', down)
    e.addEventListener('pointermove', move)
    e.addEventListener('pointerup', up)
    e.addEventListener('pointercancel', cancel)
    e.addEventListener('pointerleave', leave)
    return () => {
      e.removeEventListener('wheel', wheel)
      e.removeEventListener('pointerdown', down)
      e.removeEventListener('pointermove', move)
      e.removeEventListener('pointerup', up)
      e.removeEventListener('pointercancel', cancel)
      e.removeEventListener('pointerleave', leave)
    }
  }, [])

  // read goes some rows down and some runs on, from the middle of the first row at first, and tells
  // what is there.
  const read = (down: number, on: number) => {
    const cursor = hover?.hit, span = view.to - view.from
    const k = cursor ? Math.min(Math.max(order.indexOf(cursor.row) + down, 0), order.length - 1) : 0
    const lane = laneOf(scene, order[k]), now = cursor?.time ?? view.from + span / 2
    if (!lane?.kind.length) return
    const run = Math.min(Math.max(indexAt(lane, now) + (cursor ? on : 0), 0), lane.kind.length - 1)
    const begin = lane.start[run], end = lane.start[run + 1], seen = begin < view.to && end > view.from
    const from = seen ? view.from : Math.min(Math.max(begin - span / 2, first), last - span), to = from + span
    if (!seen) show(from, to)
    const time = cursor && !on ? now : (Math.max(begin, from) + Math.min(end, to)) / 2
    setHover({ hit: { row: order[k], lane, run, time }, x: canvas.current!.x({ ...scene, from, to }, time), y: ruler + (k + 0.5) * canvas.current!.rowHeight(scene) })
  }

  const keys = (k: KeyboardEvent) => {
    const span = view.to - view.from, middle = (view.from + view.to) / 2
    const does: Record<string, () => void> = {
      w: () => zoom(0.7, middle), s: () => zoom(1 / 0.7, middle),
      a: () => show(view.from - span / 6, view.to - span / 6), d: () => show(view.from + span / 6, view.to + span / 6),
      W: () => zoomRows(0.6), S: () => zoomRows(1 / 0.6), ...order.length < arranged ? { ArrowUp: () => moveRows(-Math.ceil(order.length / 6)), ArrowDown: () => moveRows(Math.ceil(order.length / 6)) } : {},
      j: () => read(1, 0), k: () => read(-1, 0), h: () => read(0, -1), l: () => read(0, 1),
      o: () => change({ row: view.row >= 0 ? -1 : hover?.hit.row ?? order[0] }),
      ...hover ? { ' ': () => change({ path: model.head.activities[hover.hit.lane.kind[hover.hit.run]][0], place: -1 }) } : {},
      Home: () => show(first, last), Escape: () => { setHover(null); change({ select: null, path: -1, place: -1 }) },
      Enter: () => change({ select: [view.from, view.to] }),
    }
    Object.assign(does, { ArrowLeft: does.a, ArrowRight: does.d, '+': does.w, '-': does.s, '0': does.Home })
    if (does[k.key] && !k.ctrlKey && !k.metaKey && !k.altKey) { k.preventDefault(); does[k.key]() }
  }

  const opened = !shaded && model.head.rows[view.row] ? laneOf(scene, view.row) : null
  return <div><div class="timeline" ref={around}>
    <canvas ref={element} tabIndex={0} role="img" style={{ height: `${height}px` }} onKeyDown={keys}
      aria-label={`Timeline of ${order.length} rows from ${instant(view.from, (view.to - view.from) / 100)} to ${instant(view.to, (view.to - view.from) / 100)}. Keys: w and s zoom, a and d move, W and S show fewer or more rows, up and down others, h and l read the call before and after, j and k that of the row below and above, space chooses its path, o shows the row's levels of calls, Home shows all of the time, Enter selects what is shown, Escape clears.`} />
    <div class="names" onPointerDown={() => element.current!.focus()} />
    {grip && <div class="grip" style={{ top: `${grip[0]}px`, height: `${grip[1] - grip[0]}px` }} />}
    <div role="status">{hover && <Tooltip model={model} detail={fine} hit={hover.hit} phases={phases} x={hover.x} y={hover.y} width={element.current!.clientWidth} />}</div>
  </div>
    {opened && <LevelsView {...{ model, view, change, coloring, dark }} row={view.row} lane={opened} />}
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

function Tooltip({ model, detail, hit, phases, x, y, width }: { model: Model; detail: Detail | null; hit: Hit; phases: Phase[]; x: number; y: number; width: number }) {
  const head = model.head, lane = hit.lane
  const [path, wait] = head.activities[lane.kind[hit.run]]
  const from = lane.start[hit.run], to = lane.start[hit.run + 1]
  const whom = useMemo(() => partners(model, detail, hit), [model, detail, hit.row, hit.lane, hit.run])
  const phase = phases.find(p => p.from <= hit.time && hit.time < p.to)
  return <div class="tooltip" style={{ left: `${Math.min(x + 14, Math.max(width - 340, 0))}px`, top: `${y + 16}px` }}>
    <b>{path < 0 ? 'nothing recorded' : model.names[path]}</b>{wait > 0 && <span class="wait"> {head.waits[wait]}</span>}
    <div>{model.rowName(hit.row)} · {time(to - from)}{lane.step > 1 && ` (shown in steps of ${time(lane.step)})`}</div>
    <div class="faint">from {instant(from, (to - from) / 10)} to {instant(to, (to - from) / 10)}{phase && `, in phase ${phase.number}`}</div>
    {whom.map((text, k) => <div class={wait > 0 && k === 0 ? 'wait' : ''}>{text}</div>)}
    {path >= 0 && <div class="faint">{model.where(path)}</div>}
    {path >= 0 && <ol class="stack">{model.pathRegions(path).slice(-8).map(p => <li>{model.names[p]}</li>)}</ol>}
  </div>
}

