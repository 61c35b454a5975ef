// Who sends how much to whom, and how long it takes.

import { h } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Model } from './model'
import { Histogram } from './histogram'
import type { Document } from './data'
import { Described, describedBy, shown, Tables } from './described'
import type { ColumnOf } from './more'
import { span, type SectionProps } from './sections'
import { term } from './terms'
import { matrices, type Matrix } from './view'
import { bytes, count, time } from './units'

interface Cell { from: number; to: number; count: number; bytes: number; time_ns: number; wait_ns: number }

// keys are those of the columns that the matrix shows.
const keys: Record<Matrix, keyof Cell> = { bytes: 'bytes', messages: 'count', time: 'time_ns', waits: 'wait_ns' }

// metric returns the column of a matrix.
const metric = (doc: Document, m: Matrix) => describedBy(doc, 'pairs').columns.find(c => c.key === keys[m])!

export function Communication(p: SectionProps) {
  const { doc, model, view, change } = p, m = doc.messages
  const [from, to] = span(p)
  const cells: Cell[] = useMemo(() => view.select ? sent(model, from, to) : doc.comm_matrix ?? [], [model, doc, from, to])
  if (!m && !(doc.collectives ?? []).length) return <p class="faint">The trace has no messages and no collectives.</p>
  const matrix = view.select && view.matrix === 'waits' ? 'bytes' : view.matrix
  const kept = model.timeline.messages.sent.length, all = model.head.messages_of
  return <div>
    {view.select && kept < all && <p class="faint">Of the {count(all)} messages of the run {count(kept)} are in this page; the figures of a selected time are of these.</p>}
    {cells.length > 0 && <div class="pair matrixpair">
      <div>
        <label>Matrix of <select value={matrix} onChange={e => change({ matrix: e.currentTarget.value as Matrix })}>
          {matrices.filter(k => !view.select || k !== 'waits').map(k => <option value={k}>{metric(doc, k).title}</option>)}</select></label>
        <MatrixPicture cells={cells} ranks={doc.trace?.processes ?? 0} column={metric(doc, matrix)} />
      </div>
      <Described doc={doc} table="pairs" selected={view.select !== null} rows={cells} sort={keys[matrix]} first={12} />
    </div>}
    {cells.length === 0 && view.select && <p class="faint">No message is sent in the selected time.</p>}
    {!view.select && <Whole {...p} />}
  </div>
}

// Whole is what is known of all messages and collectives of the run.
function Whole({ doc }: SectionProps) {
  const m = doc.messages
  return <div>
    {m && m.count > 0 && <p>{count(m.count)} messages, {bytes(m.bytes)}; <span title={term('latency')}>latency</span> {time(m.latency_ns?.min)} at least, {time(m.latency_ns?.p50)} in the middle, {time(m.latency_ns?.p99)} for 99 of 100, {time(m.latency_ns?.max)} at most
      {m.latency_ns?.below_zero > 0 && `; ${count(m.latency_ns.below_zero)} are received before they are sent: clocks disagree`}
      {m.unmatched_sends + m.unmatched_receives > 0 && `; ${count(m.unmatched_sends)} sends and ${count(m.unmatched_receives)} receives without partner`}.</p>}
    {m && m.count > 0 && <div class="histograms">
      <Classes caption="Messages by size" classes={m.sizes ?? []} show={bytes} />
      <Classes caption="Messages by latency" classes={m.latencies ?? []} show={time} />
    </div>}
    <Tables doc={doc} tab="communication" />
  </div>
}

// Classes draws how many messages lie between powers of two.
function Classes({ caption, classes, show }: { caption: string; classes: any[]; show: (v: number) => string }) {
  if (!classes.length) return null
  const bars: any[] = []
  for (const c of classes) {
    const last = bars[bars.length - 1]
    // Classes that are empty are left out of the document.
    for (let to = last ? last.to : c.from; last && to > 0 && to < c.from && bars.length < 64; to *= 2) bars.push({ from: to, to: to * 2, count: 0, bytes: 0 })
    bars.push(c)
  }
  const mid = bars[Math.floor(bars.length / 2)]
  return <Histogram caption={<b>{caption}</b>} label={caption} counts={bars.map(b => b.count)}
    name={k => `${show(bars[k].from)} to ${show(bars[k].to)}: ${count(bars[k].count)} messages, ${bytes(bars[k].bytes)}`}
    edges={bars.length > 2 ? [show(bars[0].from), show(mid.from), show(bars[bars.length - 1].to)] : [show(bars[0].from), show(bars[bars.length - 1].to)]} />
}

// sent sums the messages of the timeline that are sent in a stretch of time.
function sent(model: Model, from: number, to: number): Cell[] {
  const m = model.timeline.messages, cells = new Map<string, Cell>()
  for (let i = 0; i < m.sent.length; i++) {
    const a = model.head.rows[m.from[i]]?.rank ?? -1, b = model.head.rows[m.to[i]]?.rank ?? -1
    if (m.sent[i] < from || m.sent[i] >= to || a < 0 || b < 0) continue
    const key = `${a} ${b}`, c = cells.get(key) ?? { from: a, to: b, count: 0, bytes: 0, time_ns: 0, wait_ns: 0 }
    c.count++
    c.bytes += m.bytes[i]
    c.time_ns += m.done[i] - m.sent[i]
    cells.set(key, c)
  }
  return [...cells.values()]
}

function MatrixPicture({ cells, ranks, column }: { cells: Cell[]; ranks: number; column: ColumnOf }) {
  const n = Math.max(Math.min(ranks, 128), 1), per = Math.max(1, Math.ceil(ranks / n)), side = Math.ceil(ranks / per)
  const key = column.key as keyof Cell, name = column.title.charAt(0).toUpperCase() + column.title.slice(1)
  const sum = useMemo(() => {
    const out = new Map<number, number>()
    for (const c of cells) {
      const k = Math.floor(c.from / per) * side + Math.floor(c.to / per)
      out.set(k, (out.get(k) ?? 0) + Math.max(c[key], 0))
    }
    return out
  }, [cells, side, per, key])
  const most = Math.max(...sum.values(), 0), every = Math.max(1, Math.ceil(side / 8)), left = side * 0.09, label = (k: number) => `${k * per}`
  const strength = (v: number) => most > 0 ? 0.12 + 0.88 * v / most : 0
  return <figure class="matrix">
    <svg viewBox={`${-left} ${-left} ${side + left} ${side + left}`} role="img" aria-label={`${name} from rank to rank, for ${ranks} ranks; the table beside has the numbers`} style={{ fontSize: `${side * 0.045}px` }}>
      <rect width={side} height={side} class="ground" />
      {[...sum].filter(([, v]) => v > 0).map(([k, v]) => <rect x={k % side} y={Math.floor(k / side)} width="1" height="1" class="cell" fill-opacity={strength(v)}>
        <title>{`rank ${label(Math.floor(k / side))} to ${label(k % side)}${per > 1 ? ` (${per} ranks a cell)` : ''}${': ' + shown(column.unit!, v)}`}</title></rect>)}
      {Array.from({ length: Math.ceil(side / every) }, (_, i) => i * every).map(k => <g>
        <text x={k + 0.5} y={-left * 0.25} text-anchor="middle">{label(k)}</text><text x={-left * 0.2} y={k + 0.5} text-anchor="end" dominant-baseline="central">{label(k)}</text></g>)}
    </svg>
    <figcaption>{name} from rank (down) to rank (across){per > 1 && `, ${per} ranks a cell`}. <span class="scale"><i class="low" /> 0 <i class="high" /> {shown(column.unit!, most)}</span></figcaption>
  </figure>
}
