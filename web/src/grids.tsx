// Ranks as bars, and at their places in a topology where the trace tells of one.

import { h } from 'preact'
import { HeatMap } from './heatmap'
import type { Model } from './model'
import { more, type Grid } from './more'
import { RankBars, type SectionProps } from './sections'
import { bytes, together, time } from './units'

// Ranks shows a time of every row: as bars, at places in a topology, or by call path (wanted activities alone).
export function Ranks(p: SectionProps & { times: Float64Array; wanted: Uint8Array; counted: (m: Model) => Uint8Array; title: string; others?: Float64Array }) {
  const { doc, model, view, change, times, title } = p, { grids } = more(doc), grid = grids[view.grid]
  const several = times.length > 1, of = grid?.metrics[view.placed]
  return <div>
    {several && <label>Ranks as <select value={grid ? view.grid : view.grid === -2 ? -2 : -1} onChange={e => change({ grid: Number(e.currentTarget.value) })}>
      <option value={-1}>bars, longest first</option><option value={-2}>map of call paths</option>{grids.map((g, k) => <option value={k}>{g.name} ({g.sizes.join(' × ')})</option>)}</select></label>}
    {several && grid && <label>{' '}showing <select value={of ? view.placed : ''} onChange={e => change({ placed: e.currentTarget.value as typeof view.placed })}>
      <option value="">{title.replace(/, by row$/, '')}</option>{Object.keys(metrics).filter(k => grid.metrics[k]).map(k => <option value={k}>{metrics[k][0]}</option>)}</select></label>}
    {grid && of ? <GridPicture grid={grid} times={known(of)} title={metrics[view.placed][0]} write={metrics[view.placed][1]} />
      : grid ? <GridPicture grid={grid} times={byRank(model.head.rows, times)} title={title} write={time} /> : several && view.grid === -2 ? <HeatMap {...p} /> : <RankBars {...p} />}
  </div>
}

// metrics of ranks over the whole run: what they are called, and how a value is written.
const metrics: Record<string, [string, (v: number) => string]> = {
  useful: ['Useful time of the run', time], waits: ['Wait states of the run', time], hops: ['Hops of a byte sent', v => v.toFixed(2)], bytes: ['Bytes sent', bytes],
}

// known leaves out the ranks whose value is not known.
function known(values: (number | null)[]): Map<number, number> {
  const out = new Map<number, number>()
  values.forEach((v, rank) => { if (v !== null) out.set(rank, v) })
  return out
}

// byRank adds up the rows of each rank.
function byRank(rows: { rank: number }[], times: Float64Array): Map<number, number> {
  const out = new Map<number, number>()
  rows.forEach(({ rank }, r) => { if (rank >= 0) out.set(rank, (out.get(rank) ?? 0) + times[r]) })
  return out
}

// writtenAcross is how many places a row of a plane may have for numbers to stand in them.
const writtenAcross = 8

// GridPicture lays the last two dimensions out down and across; for each place in the others there
// is a plane.
function GridPicture({ grid, times, title, write }: { grid: Grid; times: Map<number, number>; title: string; write: (v: number) => string }) {
  const { sizes, at } = grid, most = Math.max(...times.values(), 0) || 1
  const across = sizes[sizes.length - 1], down = sizes.length > 1 ? sizes[sizes.length - 2] : 1
  const planes = together(at, place => place.slice(1, Math.max(sizes.length - 1, 1)).join(', '))
  const shown = [...planes].slice(0, 64)
  return <figure class="grids">
    <figcaption>{title.replace(/, by row$/, ', by rank')} at its place in {grid.name}. <span class="scale"><i class="low" /> 0 <i class="high" /> {write(most)}</span>{planes.size > shown.length && ` The first ${shown.length} of ${planes.size} planes.`}</figcaption>
    <div class="planes">{shown.map(([key, places]) => <div>
      {planes.size > 1 && <div class="faint">({key}, ·, ·)</div>}
      <svg viewBox={`0 0 ${across} ${down}`} role="img" aria-label={`${title}: ${places.length} ranks in a plane of ${down} by ${across}`}
        style={{ width: `${Math.min(Math.max(across * (planes.size > 1 ? 16 : across <= writtenAcross ? 84 : 42), 40), 560)}px` }}>
        <rect width={across} height={down} class="ground" />
        {places.map(p => {
          const x = p[p.length - 1], y = sizes.length > 1 ? p[p.length - 2] : 0, value = times.get(p[0]), t = value ?? 0, text = value === undefined ? 'not known' : write(t)
          return <g><rect x={x + 0.03} y={y + 0.03} width="0.94" height="0.94" class="cell" fill-opacity={0.06 + 0.94 * t / most}><title>{`rank ${p[0]} at (${p.slice(1).join(', ')}): ${text}`}</title></rect>
            {across <= 16 && planes.size === 1 && <text x={x + 0.5} y={y + (across <= writtenAcross ? 0.38 : 0.5)} class={t > 0.55 * most ? 'onfull' : ''} text-anchor="middle" dominant-baseline="central" font-size={across <= writtenAcross ? 0.16 : 0.3}>{across <= writtenAcross ? `rank ${p[0]}` : p[0]}</text>}
            {across <= writtenAcross && planes.size === 1 && <text x={x + 0.5} y={y + 0.64} class={t > 0.55 * most ? 'onfull' : ''} text-anchor="middle" dominant-baseline="central" font-size="0.16">{text}</text>}</g>
        })}
      </svg></div>)}</div>
  </figure>
}
