// Which rows of the timeline are shown, from top to bottom.

import { deviceName } from './described'
import type { Model } from './model'
import { together } from './units'
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

// What rows can stand together by.
export const groupings = ['node', 'process', 'device'] as const
export type Grouping = typeof groupings[number]

// groupOf names the group of a row.
export function groupOf(model: Model, by: Grouping, r: number): string {
  const { node, rank, device } = model.head.rows[r]
  return by === 'node' ? node || 'node not known' : by === 'process' ? rank >= 0 ? `rank ${rank}` : 'no rank' : device ? deviceName({ rank, device }) : 'hosts'
}

// groupingsOf returns by what some rows can be told apart, or put together.
export function groupingsOf(model: Model, rows: number[]): Grouping[] {
  return groupings.filter(by => { const n = new Set(rows.map(r => groupOf(model, by, r))).size; return by === 'node' ? rows.some(r => model.head.rows[r].node) : n > 1 && (by === 'device' || n < rows.length) })
}

// arranged returns the rows of the kind that is wanted, sorted, those of a group together. Rows in which no region is entered are left
// out unless all are wanted.
export function arranged(model: Model, view: View, all: boolean): number[] {
  const called = model.called()
  const order = sorted(model, view.sort).filter(r => all || called[r]), some = order.filter(r => !view.only || kindOf(model, r) === view.only), wanted = some.length ? some : order
  const { group } = view
  return group ? [...together(wanted, r => groupOf(model, group, r)).values()].flat() : wanted
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
