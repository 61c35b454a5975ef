// Histograms, as pictures.

import { h } from 'preact'
import type { ComponentChildren } from 'preact'

interface Props {
  caption: ComponentChildren
  label: string                      // for who does not see it
  counts: number[]
  expected?: number[]                // a curve over the bars
  name: (bar: number) => string      // what lies in a bar
  edges: string[]                    // texts below the axis, spread evenly
  mark?: { at: number; name: string } // a line, at bars from the left
}

const width = 520, height = 150, foot = 20

// Histogram draws bars of equal width: what they stand for is said by name.
export function Histogram({ caption, label, counts, expected, name, edges, mark }: Props) {
  const most = Math.max(...counts, ...(expected ?? []), 1), w = width / Math.max(counts.length, 1)
  const y = (n: number) => height * (1 - n / most)
  return <figure class="histogram">
    <figcaption>{caption}</figcaption>
    <svg viewBox={`0 0 ${width} ${height + foot}`} role="img" aria-label={label}>
      <line x1="0" x2={width} y1={height} y2={height} class="axis" />
      {counts.map((n, k) => <g><title>{name(k)}</title>
        <rect x={k * w} y="0" width={w} height={height} fill="transparent" />
        {n > 0 && <rect x={k * w + (w > 3 ? 0.5 : 0)} y={Math.min(y(n), height - 1.5)} width={Math.max(w - (w > 3 ? 1 : 0), 0.8)} height={Math.max(height - y(n), 1.5)} class="cell" />}</g>)}
      {expected && <polyline points={expected.map((n, k) => `${(k + 0.5) * w},${y(n)}`).join(' ')} class="law" />}
      {mark && mark.at >= 0 && mark.at <= counts.length && <g><line x1={mark.at * w} x2={mark.at * w} y1="0" y2={height} class="limit" />
        <text x={mark.at * w + (mark.at * w > width - 90 ? -4 : 4)} y="11" text-anchor={mark.at * w > width - 90 ? 'end' : 'start'}>{mark.name}</text></g>}
      {edges.map((e, k) => <text x={edges.length > 1 ? k * width / (edges.length - 1) : 0} y={height + 14} text-anchor={k === 0 ? 'start' : k === edges.length - 1 ? 'end' : 'middle'}>{e}</text>)}
    </svg>
  </figure>
}
