// Call paths by ranks, as a map of colors.

import { h } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { css } from './curves'
import { Tip } from './tip'
import { span, type SectionProps } from './sections'
import { share, time } from './units'

// Bounds of what is shown: more rows than columns are put together in bins.
const mostPaths = 24, mostColumns = 256

const cell = 18 // px high

// HeatMap shows the own time of the paths with most of it, of wanted activities below the chosen path, on each row of the timeline. A click on
// a cell pins the row.
export function HeatMap(p: SectionProps & { wanted: Uint8Array; title: string }) {
  const { model, view, change, wanted, title } = p, [from, to] = span(p), element = useRef<HTMLCanvasElement>(null)
  const [at, setAt] = useState<{ x: number; y: number; path: number; bin: number } | null>(null)
  const map = useMemo(() => {
    const below = view.path < 0 ? null : model.below(view.path), { activities } = model.head
    const rows = model.timeline.lanes.map((_, r) => r).filter(r => model.timeline.lanes[r].kind.some(k => activities[k][0] >= 0))
    const own = model.timeByPath(wanted.map((w, a) => activities[a][0] >= 0 && (!below || below[a]) ? w : 0), rows, from, to)
    const top = Array.from(own, (t, q) => ({ t, q })).filter(x => x.t > 0).sort((a, b) => b.t - a.t || a.q - b.q).slice(0, mostPaths).map(x => x.q)
    const place = new Map(top.map((q, k) => [q, k]))
    const byRow = rows.map(r => {
      const out = new Float64Array(top.length)
      model.sums(from, to, [r]).forEach((t, a) => { const k = place.get(activities[a][0]); if (t > 0 && wanted[a] && k !== undefined) out[k] += t })
      return out
    })
    const per = Math.ceil(rows.length / mostColumns), bins = Array.from({ length: Math.ceil(rows.length / per) }, (_, k) => rows.slice(k * per, (k + 1) * per).map((row, i) => ({ row, of: byRow[k * per + i] })))
    const values = top.map((_, k) => bins.map(bin => bin.reduce((most, b) => Math.max(most, b.of[k]), 0))) // one row among many is seen
    return { top, bins, values, most: values.map(row => row.reduce((m, v) => Math.max(m, v), 1)), per }
  }, [model, from, to, wanted, view.path])
  const { top, bins, values, most, per } = map
  useEffect(() => {
    const c = element.current?.getContext('2d')
    if (!c) return
    values.forEach((row, k) => row.forEach((v, x) => { c.fillStyle = css(v / most[k]); c.fillRect(x, k, 1, 1) }))
  }, [map])
  if (!top.length) return <p class="faint">{title}: no time.</p>
  const point = (e: MouseEvent) => {
    const box = element.current!.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top
    const bin = Math.min(Math.floor(x / box.width * bins.length), bins.length - 1), path = Math.min(Math.floor(y / cell), top.length - 1)
    return bin < 0 || path < 0 ? null : { x, y, bin, path }
  }
  const worst = (path: number, bin: number) => bins[bin].reduce((a, b) => b.of[path] > a.of[path] ? b : a).row
  const pin = (e: MouseEvent) => {
    const q = point(e)
    if (q) change({ pins: [...new Set([...view.pins, worst(q.path, q.bin)])] })
  }
  return <figure class="heatmap">
    <figcaption>{title}, without what is called{per > 1 && `, the most of ${per} rows a column`}. Each path: <span class="scale"><i style={{ background: css(0) }} /> 0 <i style={{ background: css(1) }} /> its most</span></figcaption>
    <div class="map">
      <ol>{top.map(q => <li title={`${model.names[q]}, at most ${time(most[top.indexOf(q)])}`} style={{ height: `${cell}px` }}>{model.names[q]}</li>)}</ol>
      <div class="cells"><canvas ref={element} width={bins.length} height={top.length} style={{ height: `${top.length * cell}px` }} role="img" onPointerMove={e => setAt(point(e))} onPointerLeave={() => setAt(null)} onClick={pin}
        aria-label={`${top.length} call paths by ${bins.length} ${per > 1 ? 'bins of rows' : 'rows'}; most, ${time(most[0])} on one, in ${model.names[top[0]]}`} />
        {at && <Tip x={at.x} y={at.y}><b>{model.names[top[at.path]]}</b><div>{model.rowName(worst(at.path, at.bin))}{per > 1 && ' and others'}: {time(values[at.path][at.bin])}, {share(values[at.path][at.bin] / (to - from))} of the time</div><div class="faint">Click to pin the row.</div></Tip>}</div>
    </div>
  </figure>
}
