// Call paths as trees: from the outermost call inwards, and from each region to its callers.

import type { Model } from './model'
import { together } from './units'

// A Node is a call path, or several of which each calls the next alone: they are one row. Path is the innermost, or of a caller the
// path with most of it.
export interface Node {
  id: string; path: number; paths: number[]; region: string; depth: number; children: boolean
  inclusive_ns: number; exclusive_ns: number | null; share: number | null; metric: number
}

// deepest bounds the recursion; little is the share of all time that a path may take for itself and be one row with what it calls.
const deepest = 200, little = 0.001

// chained names several regions as one row.
function chained(names: string[]): string {
  return names.length <= 3 ? names.join(' › ') : `${names[0]} › … ${names.length - 3} more › ${names.slice(-2).join(' › ')}`
}

// Times are those of call paths without what they call: of all, and of a metric.
export interface Times { own: Float64Array; metric: Float64Array }

// timesOf sums activities by call path. The metric is that of wanted activities, or a cost by its number; -1: none.
export function timesOf(model: Model, sums: Float64Array, wanted: Uint8Array, cost: number): Times {
  const { paths, activities, costs } = model.head, own = new Float64Array(paths.length), metric = new Float64Array(paths.length)
  activities.forEach(([p], a) => { if (p >= 0) { own[p] += sums[a]; if (wanted[a] && cost < 0) metric[p] += sums[a] } })
  if (cost >= 0) for (const c of costs.rows) metric[c[0]] += c[cost + 1] ?? 0
  return { own, metric }
}

// tree returns the call paths with time, from the outermost on.
export function tree(model: Model, { own, metric: ownMetric }: Times): Node[] {
  const { paths } = model.head, all = own.slice(), metric = ownMetric.slice(), total = own.reduce((s, t) => s + t, 0)
  for (let p = paths.length - 1; p >= 0; p--) if (paths[p][0] >= 0) { all[paths[p][0]] += all[p]; metric[paths[p][0]] += metric[p] }
  const children = together(paths.flatMap((_, p) => all[p] > 0 || metric[p] > 0 ? [p] : []), p => paths[p][0])
  const out: Node[] = []
  const visit = (parent: number, depth: number) => {
    for (const p of (children.get(parent) ?? []).sort((a, b) => all[b] - all[a] || a - b)) {
      const chain = [p]
      for (let last = p; children.get(last)?.length === 1 && own[last] <= little * total && !ownMetric[last];) chain.push(last = children.get(last)![0])
      const last = chain[chain.length - 1]
      out.push({ id: `${p}`, path: last, paths: chain, region: chained(chain.map(q => model.names[q])), depth, exclusive_ns: own[last], inclusive_ns: all[p], share: total > 0 ? all[p] / total : null, metric: metric[p], children: depth < deepest && children.has(last) })
      if (depth < deepest) visit(last, depth + 1)
    }
  }
  visit(-1, 0)
  return out
}

// inOther returns, by call path, what the path of the same regions has of another run with what it calls.
export function inOther(model: Model, other: Model): Float64Array {
  const keys = (m: Model) => m.head.paths.reduce((out: string[], [parent], p) => { out.push(`${parent >= 0 ? out[parent] : ''}\n${m.names[p]}`); return out }, [])
  const theirs = new Map<string, number>(), all = new Float64Array(other.head.paths.length), { paths, activities } = other.head
  activities.forEach(([p], a) => { if (p >= 0) all[p] += other.activityTime[a] })
  for (let p = paths.length - 1; p >= 0; p--) if (paths[p][0] >= 0) all[paths[p][0]] += all[p]
  keys(other).forEach((key, p) => theirs.set(key, (theirs.get(key) ?? 0) + all[p]))
  return Float64Array.from(keys(model), key => theirs.get(key) ?? 0)
}

interface Caller { name: string; own: number; metric: number; path: number; most: number; below: Map<string, Caller> }

// callers returns regions by their own time, below each who calls it, and so on outwards.
export function callers(model: Model, { own, metric }: Times): Node[] {
  const { paths } = model.head, total = own.reduce((s, t) => s + t, 0), roots = new Map<string, Caller>()
  own.forEach((t, p) => {
    if (t <= 1e-5 * total && !metric[p]) return
    let at = roots
    for (let q = p, depth = 0; q >= 0 && depth < deepest; q = paths[q][0], depth++) {
      const name = model.names[q], c = at.get(name) ?? { name, own: 0, metric: 0, path: p, most: 0, below: new Map() }
      c.own += t
      c.metric += metric[p]
      if (t > c.most) { c.most = t; c.path = p }
      at.set(name, c)
      at = c.below
    }
  })
  const out: Node[] = []
  const visit = (of: Map<string, Caller>, depth: number, id: string) => {
    for (const first of [...of.values()].sort((a, b) => b.own - a.own || (a.name < b.name ? -1 : 1))) {
      const names = [first.name]
      let last = first
      while (depth > 0 && last.below.size === 1) {
        const [next] = last.below.values()
        if (next.own < last.own) break
        names.push(next.name)
        last = next
      }
      const own = `${id}/${first.name}`
      out.push({ id: own, path: first.path, paths: [first.path], region: (depth ? '← ' : '') + chained(names), depth, exclusive_ns: depth ? null : first.own, inclusive_ns: first.own, share: total > 0 ? first.own / total : null, metric: first.metric, children: last.below.size > 0 && depth < deepest })
      if (depth < deepest) visit(last.below, depth + 1, own)
    }
  }
  visit(roots, 0, '')
  return out
}
