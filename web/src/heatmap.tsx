// Call paths by ranks, as a map of colors.

import { h, Fragment } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { css, signed } from './curves'
import { useDark } from './dark'
import { same } from './runs'
import type { Model } from './model'
import { Tip } from './tip'
import { span, type SectionProps } from './sections'
import { share, signedTime, time } from './units'

// Bounds of what is shown: more rows than columns are put together in bins.
const mostPaths = 24, mostColumns = 256

const cell = 18 // px high

// HeatMap shows the own time of the paths with most of it, of wanted activities below the chosen path, on each row of the timeline. A click on
// a cell pins the row.
export function HeatMap(p: SectionProps & { wanted: Uint8Array; counted: (m: Model) => Uint8Array; title: string }) {
  const { model, view, change, tell, wanted, counted, title, other } = p, dark = useDark(), signs = other !== null && !view.select && view.difference, [from, to] = span(p), element = useRef<HTMLCanvasElement>(null)
  const [at, setAt] = useState<{ x: number; y: number; path: number; bin: number } | null>(null)
  const map = useMemo(() => {
    const below = view.path < 0 ? null : model.below(view.path), { activities } = model.head
    const rows = model.timeline.lanes.map((_, r) => r).filter(r => model.timeline.lanes[r].kind.some(k => activities[k][0] >= 0))
    const own = model.timeByPath(wanted.map((w, a) => activities[a][0] >= 0 && (!below || below[a]) ? w : 0), rows, from, to)
    const top = Array.from(own, (t, q) => ({ t, q })).filter(x => x.t > 0).sort((a, b) => b.t - a.t || a.q - b.q).slice(0, mostPaths).map(x => x.q)
    const byRow = owns(model, rows, top, wanted, from, to)
    if (signs) { // less what the row of the same name has of the same path
      const names = new Map(other.model.head.rows.map((_, r) => [other.model.rowName(r), r])), there = rows.map(r => names.get(model.rowName(r)) ?? -1)
      const theirs = owns(other.model, there, top.map(q => same(model, q, other.model)), counted(other.model), 0, other.model.head.length_ns)
      byRow.forEach((of, i) => theirs[i].forEach((t, k) => { of[k] -= t }))
    }
    const per = Math.ceil(rows.length / mostColumns), bins = Array.from({ length: Math.ceil(rows.length / per) }, (_, k) => rows.slice(k * per, (k + 1) * per).map((row, i) => ({ row, of: byRow[k * per + i] })))
    const values = top.map((_, k) => bins.map(bin => bin.reduce((most, b) => Math.abs(b.of[k]) > Math.abs(most) ? b.of[k] : most, 0))) // one row among many is seen
    const most = values.map(row => row.reduce((m, v) => Math.max(m, Math.abs(v)), 1))
    return { top, bins, values, most, widest: Math.max(...most), per }
  }, [model, from, to, wanted, view.path, other, signs])
  const { top, bins, values, most, widest, per } = map
  useEffect(() => {
    const c = element.current?.getContext('2d')
    if (!c) return
    values.forEach((row, k) => row.forEach((v, x) => { c.fillStyle = signs ? signed(v / widest, dark) : css(v / most[k]); c.fillRect(x, k, 1, 1) }))
  }, [map, dark])
  if (!top.length) return <p class="faint">{title}: no time.</p>
  const point = (e: MouseEvent) => {
    const box = element.current!.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top
    const bin = Math.min(Math.floor(x / box.width * bins.length), bins.length - 1), path = Math.min(Math.floor(y / cell), top.length - 1)
    return bin < 0 || path < 0 ? null : { x, y, bin, path }
  }
  const worst = (path: number, bin: number) => bins[bin].reduce((a, b) => Math.abs(b.of[path]) > Math.abs(a.of[path]) ? b : a).row
  const pin = (e: MouseEvent) => {
    const q = point(e)
    if (!q) return
    tell({ whole: worst(q.path, q.bin) })
    change({ pins: [...new Set([...view.pins, worst(q.path, q.bin)])] })
  }
  return <figure class="heatmap">
    <figcaption>{title}, without what is called{per > 1 && `, the most of ${per} rows a column`}. {signs ? <Signs own={other.own} other={other.letter} most={widest} dark={dark} /> : <Fragment>Each path: <span class="scale"><i style={{ background: css(0) }} /> 0 <i style={{ background: css(1) }} /> its most</span></Fragment>}
      {other && !view.select && <label> <input type="checkbox" checked={view.difference} onChange={e => change({ difference: e.currentTarget.checked })} /> Difference</label>}</figcaption>
    <div class="map">
      <ol>{top.map(q => <li title={`${model.names[q]}, at most ${time(most[top.indexOf(q)])}`} style={{ height: `${cell}px` }}>{model.names[q]}</li>)}</ol>
      <div class="cells"><canvas ref={element} width={bins.length} height={top.length} style={{ height: `${top.length * cell}px` }} role="img" onPointerMove={e => setAt(point(e))} onPointerLeave={() => setAt(null)} onClick={pin}
        aria-label={`${top.length} call paths by ${bins.length} ${per > 1 ? 'bins of rows' : 'rows'}; most, ${time(most[0])} on one, in ${model.names[top[0]]}`} />
        {at && <Tip x={at.x} y={at.y}><b>{model.names[top[at.path]]}</b><div>{model.rowName(worst(at.path, at.bin))}{per > 1 && ' and others'}: {signs ? `${other.own} − ${other.letter}: ${signedTime(values[at.path][at.bin])}` : `${time(values[at.path][at.bin])}, ${share(values[at.path][at.bin] / (to - from))} of the time`}</div><div class="faint">Click to pin the row.</div></Tip>}</div>
    </div>
  </figure>
}

// owns returns what each of some rows (-1: none) has of each of some paths for itself, in wanted activities.
function owns(model: Model, rows: number[], paths: number[], wanted: Uint8Array, from: number, to: number): Float64Array[] {
  const place = new Map(paths.map((q, k) => [q, k])), { activities } = model.head
  return rows.map(r => {
    const out = new Float64Array(paths.length)
    if (r >= 0) model.sums(from, to, [r]).forEach((t, a) => { const k = activities[a][0] < 0 ? undefined : place.get(activities[a][0]); if (t > 0 && wanted[a] && k !== undefined) out[k] += t })
    return out
  })
}

// Signs is the legend of differences.
export function Signs({ own, other, most, dark }: { own: string; other: string; most: number; dark: boolean }) {
  return <span class="scale">{own} − {other}: <i style={{ background: signed(-1, dark) }} /> −{time(most)} <i style={{ background: signed(0, dark) }} /> 0 <i style={{ background: signed(1, dark) }} /> +{time(most)}</span>
}
