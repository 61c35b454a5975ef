// Which rows of the timeline are shown, from top to bottom.

import type { Model } from './model'
import type { View } from './view'

// What rows are of: those of a process itself, its further threads, streams of devices.
export const kinds = ['processes', 'threads', 'devices'] as const
export type Kind = typeof kinds[number]

function kindOf(model: Model, r: number): Kind {
  const row = model.head.rows[r]
  return row.device ? 'devices' : row.master && row.rank >= 0 ? 'processes' : 'threads'
}

// kindsOf returns the kinds that some rows have.
export function kindsOf(model: Model, rows: number[]): Kind[] {
  const there = new Set(rows.map(r => kindOf(model, r)))
  return kinds.filter(k => there.has(k))
}

// A process is folded if only its own row is shown, without further threads and devices.
export function folded({ fold, but }: View, rank: number): boolean { return rank >= 0 && fold !== but.includes(rank) }

// arranged returns the rows of the kind that is wanted, sorted, without those of folded processes. Rows in which no region is entered
// are left out unless all are wanted.
export function arranged(model: Model, view: View, all: boolean): number[] {
  const called = model.called(), { rows } = model.head
  const order = sorted(model, view.sort).filter(r => all || called[r])
  const heads = new Set(order.filter(r => rows[r].master).map(r => rows[r].rank))
  const wanted = order.filter(r => (!view.only || kindOf(model, r) === view.only) && (view.only || rows[r].master || !heads.has(rows[r].rank) || !folded(view, rows[r].rank)))
  return wanted.length ? wanted : order
}

function sorted(model: Model, sort: View['sort']): number[] {
  const { rows, activities } = model.head
  const order = rows.map((_, r) => r)
  const rank = (r: number) => rows[r].rank >= 0 ? rows[r].rank : 1e9
  if (sort === 'name') return order.sort((a, b) => model.rowName(a).localeCompare(model.rowName(b), 'en', { numeric: true }) || a - b)
  if (sort === 'wait' || sort === 'busy') {
    const waits = model.byRow(0, model.head.length_ns, Uint8Array.from(activities, ([, w]) => w > 0 ? 1 : 0))
    return order.sort((a, b) => (sort === 'wait' ? waits[b] - waits[a] : waits[a] - waits[b]) || a - b)
  }
  return order.sort((a, b) => rank(a) - rank(b) || Number(rows[b].master) - Number(rows[a].master) || a - b)
}

// A Band is a stretch of the rows that are arranged, by their places.
export type Band = [first: number, end: number]

// banded returns those of a band; all if it has none of them.
export function banded(order: number[], band: Band | null): number[] {
  const some = band ? order.slice(...band) : order
  return some.length ? some : order
}

// fitBand moves a band to where there are rows; null if it is all of them.
export function fitBand([first, end]: Band, rows: number): Band | null {
  const n = Math.min(Math.max(Math.round(end - first), 1), rows), at = Math.min(Math.max(Math.round(first), 0), rows - n)
  return n === rows ? null : [at, at + n]
}
