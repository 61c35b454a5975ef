// A flame graph: each call path as wide as its time, below the one that calls it.

import { h } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Node } from './paths'
import { share, time } from './units'

// least is the share of the width below which a path is left out; height is that of one, px.
const least = 0.0015, height = 19

export function Flame({ nodes, value, color, also, chosen, choose }: { nodes: Node[]; value: (n: Node) => number; color: (n: Node) => { background: string; color: string }; also?: (n: Node) => string; chosen: number; choose: (n: Node) => void }) {
  const cells = useMemo(() => {
    const total = nodes.reduce((s, n) => n.depth === 0 ? s + value(n) : s, 0) || 1
    const next: number[] = [0] // where the next path of each depth begins
    return nodes.map(n => {
      const x = next[n.depth], width = value(n) / total
      next[n.depth] = x + width
      next[n.depth + 1] = x // what it calls begins where it does
      return { n, x, width }
    }).filter(c => c.width >= least)
  }, [nodes, value])
  const deep = cells.reduce((d, c) => Math.max(d, c.n.depth + 1), 1)
  return <div class="flamebox" tabIndex={0} role="group" aria-label="Flame graph: the call tree has the same as a table">
    <div class="flame" style={{ height: `${deep * height}px` }}>{cells.map(({ n, x, width }) =>
      <button key={n.id} tabIndex={-1} aria-pressed={n.paths.includes(chosen)} title={`${n.region}: ${time(value(n))}, ${share(width)}${also?.(n) ?? ''}`} onClick={() => choose(n)}
        style={{ left: `${100 * x}%`, width: `${100 * width}%`, top: `${n.depth * height}px`, ...color(n) }}>{width > 0.02 && n.region}</button>)}</div>
  </div>
}
