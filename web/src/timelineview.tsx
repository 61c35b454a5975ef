import { h, Fragment } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Canvas, Inks, laneOf, pinnedEnd, ruler, type Hit, type Joined, type Scene } from './canvas'
import { detail, type Detail, type Lane } from './data'
import { pathOf, waitOf, type Chosen } from './dock'
import { shades } from './curves'
import { printing } from './dark'
import { levelColors, levelLit } from './levels'
import { useFiner } from './finer'
import { listen } from './listen'
import { noteIn } from './notes'
import { communicator, partners } from './partners'
import { fitBand, groupOf, type Band, type Grouping } from './rows'
import type { Phase } from './phasemarks'
import type { Coloring, Model } from './model'
import { arrange, openedAtFirst } from './strips'
import { Tip } from './tip'
import { toggled, type View } from './view'
import { bytes, count, instant, share, time } from './units'

interface Props {
  model: Model
  view: View
  change: (v: Partial<View>) => void
  coloring: Coloring
  order: number[]  // rows from top to bottom
  arranged: number // of how many, of which view.band are these
  pinned: number[] // rows that stand above the others
  lit: Uint8Array | null
  marked: number[] // rows
  phases: Phase[]
  shaded: Lane[] | null // drawn instead of what happens
  dark: boolean
  part: number // of the window's height that it may take
  bounds?: [number, number] // of what can be looked at, in the timeline's time; else all of it
  tell?: (c: Chosen | null) => void // what is chosen
  drawn?: { current: (() => string) | null } // returns what is seen as SVG
}

// least is how high a timeline may be in any window, px.
const least = 240

// useRoom returns how high a timeline may be, px.
function useRoom(part: number): number {
  const [room, setRoom] = useState(innerHeight * part)
  useEffect(() => listen(window, { resize: () => setRoom(innerHeight * part) }), [part])
  return Math.max(Math.round(room), least)
}

// A Place in the timeline: where the pointer is, or a lane (counted over all that are not pinned) and a time.
type Place = { x: number; y: number } | { lane: number; time: number }

// TimelineView is the timeline with all that can be done to it by wheel, drag, keys and touch.
export function TimelineView({ model, view, change, coloring, order, arranged, pinned, lit, marked, phases, shaded, dark, part, bounds, tell = () => {}, drawn }: Props) {
  const element = useRef<HTMLCanvasElement>(null)
  const around = useRef<HTMLDivElement>(null), scroller = useRef<HTMLDivElement>(null)
  const canvas = useRef<Canvas | null>(null)
  const [at, setAt] = useState<Place | null>(null)
  const [grip, setGrip] = useState<[number, number] | null>(null) // from where to where names are dragged over, px
  const [scrolled, setScrolled] = useState(0)
  const [first, last] = bounds ?? [0, model.head.length_ns]
  const { head } = model, room = useRoom(part), fine = useDetail(model, view)

  const levels = (r: number) => shaded || model.levels(r) < 2 ? 0 : model.levels(r)
  const open = useMemo(() => new Set(view.open ?? openedAtFirst(order, levels, room)), [model, view.open, order, room, shaded !== null])
  const groups = useMemo(() => view.group ? { of: (r: number) => groupOf(model, view.group as Grouping, r), closed: new Set(view.closed) } : undefined, [model, view.group, view.closed])
  const { strips, height } = useMemo(() => arrange(order, pinned, r => open.has(r) ? levels(r) : 0, room, groups), [order, pinned, open, room, groups, shaded !== null])
  const inks = useMemo(() => new Inks(shaded ? { colors: shades, lit: null } : { colors: coloring.of, lit }), [coloring, lit, shaded !== null])
  const levelInks = useMemo(() => new Inks({ colors: levelColors(coloring), lit: levelLit(head, lit) }), [coloring, lit])
  const named = (kind: number, level: boolean) => {
    if (shaded) return ''
    if (level) return kind > head.paths.length ? head.waits[kind - head.paths.length] : model.names[kind - 1] ?? ''
    const [path, wait] = head.activities[kind]
    return wait > 0 ? head.waits[wait] : model.names[path] ?? ''
  }
  // Rows that are pinned take their place from the others, so that nothing below moves, unless there is little.
  const shown = Math.min(Math.max(height - (pinned.length ? pinnedEnd(strips) - ruler + 5 : 0), Math.min(height, least)), room)
  const top = Math.min(scrolled, Math.max(height - shown, 0))
  const scene = useMemo((): Scene => ({
    timeline: model.timeline, detail: fine, strips, scrolled: top, inks, levelInks, from: view.from, to: view.to, select: view.select, named,
    messages: view.messages, critical: view.critical, labels: r => model.label(r), opens: r => levels(r) > 0, marked, phases, notes: view.notes, dark,
  }), [model, fine, strips, top, inks, levelInks, view, marked, phases, dark])
  const painted = useMemo((): Scene => shaded ? { ...scene, timeline: { ...scene.timeline, lanes: shaded }, detail: fine && { ...fine, lanes: shaded } } : scene, [scene, shaded])
  const latest = useRef(scene)
  latest.current = scene
  const picture = useRef(painted)
  picture.current = painted
  const state = useRef({ view, change, first, last, order, arranged, fine, tell, toggle: (_: number) => {}, fold: (_: string) => {} })
  const toggle = (row: number) => change({ open: [...open].sort((a, b) => a - b).filter(r => r !== row).concat(open.has(row) || !levels(row) ? [] : [row]) })
  const fold = (name: string) => change({ group: view.group || 'process', closed: toggled(view.closed, name) })
  state.current = { view, change, first, last, order, arranged, fine, tell, toggle, fold }

  useLayoutEffect(() => {
    canvas.current = new Canvas(element.current!)
    if (drawn) drawn.current = () => canvas.current!.svg(picture.current)
    const watch = new ResizeObserver(() => { canvas.current!.fit(); canvas.current!.draw(picture.current) })
    watch.observe(element.current!)
    return () => watch.disconnect()
  }, [])
  // Whatever changes before a frame is drawn with it, once.
  const frame = useRef(0)
  useLayoutEffect(() => {
    if (printing) { canvas.current!.fit(); canvas.current!.draw(picture.current) }
    else frame.current ||= requestAnimationFrame(() => { frame.current = 0; canvas.current!.draw(picture.current) })
  }, [painted, shown, printing])

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
    // The wheel alone scrolls, as everywhere on a page.
    const wheel = (p: WheelEvent) => {
      const across = p.shiftKey || Math.abs(p.deltaX) > Math.abs(p.deltaY)
      if (!p.ctrlKey && !p.metaKey && !across) return
      p.preventDefault()
      const v = state.current.view, span = v.to - v.from
      if (across) {
        const d = (p.deltaX || p.deltaY) / canvas.current!.plot * span
        show(v.from + d, v.to + d)
      } else zoom(Math.exp(p.deltaY * 0.0015), canvas.current!.timeAt(latest.current, where(p)[0]))
    }
    // One pointer pans, or selects where it begins on the ruler or with shift, or rows where it begins
    // on their names; two zoom.
    const pointers = new Map<number, readonly [x: number, y: number]>()
    let drag: { x: number; y: number; from: number; to: number; band: Band; top: number; does: 'move' | 'select' | 'rows'; moved: boolean } | null = null
    let pinch = 0
    const down = (p: PointerEvent) => {
      const [x, y] = where(p)
      e.setPointerCapture(p.pointerId)
      pointers.set(p.pointerId, [x, y])
      const v = state.current.view
      drag = { x, y, from: v.from, to: v.to, band: bandNow(), top: scroller.current!.scrollTop, does: p.shiftKey || y < ruler ? 'select' : x < canvas.current!.left ? 'rows' : 'move', moved: false }
      pinch = pointers.size === 2 ? distance() : 0
      if (pinch) setGrip(null)
    }
    const distance = () => {
      const [a, b] = [...pointers.values()], axis = drag?.does === 'rows' ? 1 : 0
      return Math.max(Math.abs(a[axis] - b[axis]), 1)
    }
    const move = (p: PointerEvent) => {
      const [x, y] = where(p)
      if (!pointers.has(p.pointerId)) return setAt({ x, y })
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
      setAt(null)
      const span = drag.to - drag.from, plot = canvas.current!.plot
      const at = (px: number) => Math.min(Math.max(drag!.from + (px - canvas.current!.left) / plot * span, state.current.first), state.current.last)
      if (drag.does === 'rows') {
        setGrip([Math.max(Math.min(drag.y, y), ruler), Math.max(drag.y, y)])
      } else if (drag.does === 'select') {
        const [a, b] = [at(drag.x), at(x)].sort((p, q) => p - q)
        state.current.change({ select: b > a ? [a, b] : null })
      } else {
        show(drag.from - (x - drag.x) / plot * span, drag.to - (x - drag.x) / plot * span)
        scroller.current!.scrollTop = drag.top + drag.y - y
        const each = (element.current!.clientHeight - pinnedEnd(latest.current.strips)) / Math.max(state.current.order.length, 1), by = Math.round((drag.y - y) / each)
        if (drag.band[1] - drag.band[0] < state.current.arranged) showRows([drag.band[0] + by, drag.band[1] + by])
      }
    }
    // placeOf returns the place among the rows of what lies at a height.
    const placeOf = (y: number) => {
      const hit = canvas.current!.laneAt(latest.current, Math.max(y, ruler)), { order } = state.current
      return hit ? order.indexOf(hit.strip.rows[hit.strip.levels ? 0 : hit.lane]) : order.length - 1
    }
    const up = (p: PointerEvent) => {
      const [x, y] = where(p)
      if (drag?.does === 'rows' && pointers.size === 1) {
        const { group } = canvas.current!.laneAt(latest.current, y)?.strip ?? {}, ends = [placeOf(drag.y), placeOf(y)].sort((a, b) => a - b), top = bandNow()[0]
        if (drag.moved) showRows([top + ends[0], top + ends[1] + 1])
        else if (group !== undefined) state.current.fold(group)
        else if (ends[0] >= 0) state.current.toggle(state.current.order[ends[0]])
        setGrip(null)
      } else if (drag && !drag.moved && pointers.size === 1) {
        const hit = canvas.current!.hit(latest.current, x, y)
        const joined = drag.does === 'move' ? canvas.current!.joined(x, y) : null
        const found = joined ?? hit
        if (drag.does === 'move') state.current.tell(found && { ...found, detail: state.current.fine })
        state.current.change(joined ? { pins: rowsOf(joined) } : drag.does === 'select' ? { select: null } : { path: hit ? pathOf(model, hit) : -1, place: -1 })
      }
      pointers.delete(p.pointerId)
      drag = null
    }
    const leave = () => setAt(null)
    const cancel = (p: PointerEvent) => { // the browser has the gesture for itself
      pointers.delete(p.pointerId)
      drag = null
      setGrip(null)
    }
    return listen(e, { wheel, pointerdown: down, pointermove: move, pointerup: up, pointercancel: cancel, pointerleave: leave })
  }, [model])

  // Lanes that keys go through: of all rows that are not pinned, from top to bottom.
  const lanes = useMemo(() => strips.filter(p => !p.pinned && p.group === undefined).flatMap(p => Array.from({ length: p.levels || p.rows.length }, (_, k) => ({ strip: p, k }))), [strips])
  const middle = (lane: number) => lanes[lane].strip.top - scene.scrolled + (lanes[lane].k + 0.5) * lanes[lane].strip.each
  const point = at && canvas.current && ('x' in at ? at : lanes[at.lane] ? { x: canvas.current.x(scene, at.time), y: middle(at.lane) } : null)
  const hit = point && canvas.current!.hit(scene, point.x, point.y), joined = point && at && 'x' in at ? canvas.current!.joined(point.x, point.y) : null

  // read goes some lanes down and some runs on, from the middle of the first at first, and tells what is there.
  const read = (down: number, on: number) => {
    const span = view.to - view.from, under = point && canvas.current!.laneAt(scene, point.y)
    const now = Math.max(under ? lanes.findIndex(l => l.strip === under.strip && l.k === under.lane) : 0, 0)
    const lane = Math.min(Math.max(now + (hit ? down : 0), 0), lanes.length - 1)
    const there = canvas.current!.hit(scene, canvas.current!.x(scene, hit?.time ?? view.from + span / 2), middle(lane))
    const { strip } = lanes[lane], runs = there?.level?.lane ?? laneOf(scene, strip.rows[strip.levels ? 0 : lanes[lane].k])
    if (!runs?.kind.length) return
    let run = there?.level?.run ?? there?.run ?? 0
    const step = hit ? on : 0
    do run += step; while (step && there?.level && runs.kind[run] === 0)
    if (run < 0 || run >= runs.kind.length) return
    const begin = runs.start[run], end = runs.start[run + 1], seen = begin < view.to && end > view.from
    const from = seen ? view.from : Math.min(Math.max(begin - span / 2, first), last - span), to = from + span
    if (!seen) show(from, to)
    const top = lanes[lane].strip.top + lanes[lane].k * lanes[lane].strip.each, above = pinnedEnd(strips)
    if (top - scene.scrolled < above) scroller.current!.scrollTop = top - above
    else if (top - scene.scrolled > shown - lanes[lane].strip.each) scroller.current!.scrollTop = top - shown + lanes[lane].strip.each
    setAt({ lane, time: hit && !on ? hit.time : (Math.max(begin, from) + Math.min(end, to)) / 2 })
  }

  const keys = (k: KeyboardEvent) => {
    const span = view.to - view.from, middle = (view.from + view.to) / 2
    const does: Record<string, () => void> = {
      w: () => zoom(0.7, middle), s: () => zoom(1 / 0.7, middle),
      a: () => show(view.from - span / 6, view.to - span / 6), d: () => show(view.from + span / 6, view.to + span / 6),
      W: () => zoomRows(0.6), S: () => zoomRows(1 / 0.6), ...order.length < arranged ? { ArrowUp: () => moveRows(-Math.ceil(order.length / 6)), ArrowDown: () => moveRows(Math.ceil(order.length / 6)) } : {},
      j: () => read(1, 0), k: () => read(-1, 0), h: () => read(0, -1), l: () => read(0, 1),
      o: () => toggle(hit?.row ?? order[0]), n: () => change({ notes: [...view.notes, noteIn(view)] }),
      f: () => fold(groupOf(model, view.group || 'process', hit?.row ?? order[0])),
      p: () => change({ pins: toggled(view.pins, hit?.row ?? order[0]) }),
      ...hit ? { ' ': () => { tell({ ...hit, detail: fine }); change({ path: pathOf(model, hit), place: -1 }) } } : {},
      Home: () => show(first, last), Escape: () => { setAt(null); tell(null); change({ select: null, path: -1, place: -1 }) },
      Enter: () => change({ select: [view.from, view.to] }),
    }
    Object.assign(does, { ArrowLeft: does.a, ArrowRight: does.d, '+': does.w, '-': does.s, '0': does.Home })
    if (does[k.key] && !k.ctrlKey && !k.metaKey && !k.altKey) { k.preventDefault(); does[k.key]() }
  }

  return <div class="timeline" ref={around}>
    <div class="scroller" ref={scroller} style={{ height: `${shown}px` }} onScroll={e => setScrolled(e.currentTarget.scrollTop)}>
      <div style={{ height: `${height}px` }}>
        <canvas ref={element} tabIndex={0} role="application" aria-roledescription="timeline" aria-describedby="timeline-keys" style={{ height: `${shown}px` }} onKeyDown={keys}
          aria-label={`Timeline of ${order.length} rows${groups ? `, grouped by ${view.group}, ${view.closed.length} groups folded,` : ''}${pinned.length ? `, ${pinned.length} pinned,` : ''} from ${instant(view.from, (view.to - view.from) / 100)} to ${instant(view.to, (view.to - view.from) / 100)}.${pinned.length ? ` Pinned: ${pinned.map(r => model.rowName(r)).join(', ')}.` : ''} Most of the run: ${coloring.legend.slice(0, 3).map(l => `${l.name} ${share(l.share)}`).join(', ')}.`} />
      </div>
    </div>
    <div class="names" onPointerDown={() => element.current!.focus()} />
    {grip && <div class="grip" style={{ top: `${grip[0]}px`, height: `${grip[1] - grip[0]}px` }} />}
    <div role="status">{hit && point && <Tip x={point.x} y={point.y}>{joined ? <Join model={model} joined={joined} /> : <Told model={model} detail={fine} hit={hit} phases={phases} />}</Tip>}</div>
  </div>
}

// useDetail asks the server, if there is one, for what the page's own timeline is too coarse to show.
function useDetail(model: Model, view: View): Detail | null {
  const { head } = model, whole = model.coarsest <= Math.max((view.to - view.from) / 1600, 1) && model.timeline.messages.sent.length === head.messages_of
  return useFiner(head.served && !whole ? (from, to, stop) => detail(model.address, head, from, to, 3200, stop) : null, view, head.length_ns, model)
}

// rowsOf returns the rows that a message or a collective is most about.
function rowsOf(j: Joined): number[] { return 'i' in j ? [...new Set([j.messages.from[j.i], j.messages.to[j.i]])] : [j.collective.latest] }

// Join is what is known of a message or a collective.
function Join({ model, joined: j }: { model: Model; joined: Joined }) {
  const line = (from: number, to: number) => `from ${instant(from, (to - from) / 10, to)} to ${instant(to, (to - from) / 10, to)}`
  if ('collective' in j) {
    const k = j.collective
    return <Fragment><b>{model.regionName(k.operation)}</b><div>{communicator(model, k.comm)}, {count(k.members)} rows, {time(k.end - k.begin)}</div>
      <div>last to come: {model.rowName(k.latest)}, {time(k.latestBegin - k.begin)} after the first</div><div class="faint">{line(k.begin, k.end)}. Click to pin the last.</div></Fragment>
  }
  const { messages: m, i } = j
  return <Fragment><b>Message of {bytes(m.bytes[i])}</b><div>{model.rowName(m.from[i])} → {model.rowName(m.to[i])}, {time(m.done[i] - m.sent[i])}</div>
    <div>tag {m.tag[i]}, {communicator(model, m.comm[i])}</div><div class="faint">{line(m.sent[i], m.done[i])}. Click to pin both rows.</div></Fragment>
}

// Told is what is known of a call.
function Told({ model, detail, hit, phases }: { model: Model; detail: Detail | null; hit: Hit; phases: Phase[] }) {
  const { head } = model, runs = hit.level ?? hit
  const [innermost] = head.activities[hit.lane.kind[hit.run]], path = pathOf(model, hit), wait = waitOf(model, hit)
  const from = runs.lane.start[runs.run], to = runs.lane.start[runs.run + 1], { step } = hit.lane
  const whom = useMemo(() => path === innermost ? partners(model, detail, hit) : [], [model, detail, hit.row, hit.lane, hit.run, path])
  const phase = phases.find(p => p.from <= hit.time && hit.time < p.to)
  return <Fragment>
    <b>{path < 0 ? 'nothing recorded' : model.names[path]}</b>{wait > 0 && <span class="wait"> {head.waits[wait]}</span>}
    <div>{model.rowName(hit.row)} · {time(to - from)}{step > 1 && ` (shown in steps of ${time(step)})`}</div>
    <div class="faint">from {instant(from, (to - from) / 10, to)} to {instant(to, (to - from) / 10, to)}{phase && `, in phase ${phase.number}`}</div>
    {whom.map(({ text }, k) => <div class={wait > 0 && k === 0 ? 'wait' : ''}>{text}</div>)}
    {path >= 0 && <div class="faint">{model.where(path)}</div>}
    {path >= 0 && !hit.level && <ol class="stack">{model.pathRegions(path).slice(-8).map(p => <li>{model.names[p]}</li>)}</ol>}
  </Fragment>
}
