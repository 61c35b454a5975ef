// How the rows of the timeline lie below each other.

import { ruler } from './canvas'

// A Strip is rows of equal height, or one row with its levels of calls, a lane each, or the mean of the rows of a group, which stands
// above them, or in their place.
export interface Strip { rows: number[]; levels: number; pinned: boolean; top: number; each: number; group?: string; closed?: boolean }

// Groups say of rows which stand together, and which of these are closed.
export interface Groups { of: (row: number) => string; closed: Set<string> }

// Heights, px: of a pinned row, of a level, and of other rows at most.
const pinnedHeight = 22, levelHeight = 17, rowHeight = 30, groupHeight = 20

// arrange puts pinned rows on top and the others below, in their order and as high as there is room for; those that are
// open, with their levels. Returned is also how high all of it is.
export function arrange(order: number[], pinned: number[], levels: (row: number) => number, room: number, groups?: Groups): { strips: Strip[]; height: number } {
  const strips: Strip[] = []
  let top = ruler
  if (pinned.length) {
    strips.push({ rows: pinned, levels: 0, pinned: true, top, each: pinnedHeight })
    top += pinned.length * pinnedHeight + 5
  }
  const shut = order.map(r => groups?.closed.has(groups.of(r)) ?? false), names = groups && order.map(groups.of)
  const opened = order.map((r, k) => shut[k] ? 0 : levels(r)), flat = opened.reduce((n, l, k) => n + Number(l === 0 && !shut[k]), 0)
  const taken = opened.reduce((sum, l) => sum + (l ? l * levelHeight + 3 : 0), new Set(names).size * (groupHeight + 3))
  const each = Math.min(rowHeight, Math.max((room - top - taken) / Math.max(flat, 1), taken > 0 ? Math.min(12, room / 2 / Math.max(flat, 1)) : 0))
  for (let k = 0; k < order.length;) {
    if (names && names[k] !== names[k - 1]) {
      let end = k + 1
      while (end < order.length && names[end] === names[k]) end++ // rows of a group stand together
      const rows = order.slice(k, end)
      strips.push({ rows, levels: 0, pinned: false, top: top + 2, each: groupHeight, group: names[k], closed: shut[k] })
      top += groupHeight + 3
      if (shut[k]) { k += rows.length; continue }
    }
    if (opened[k]) {
      strips.push({ rows: [order[k]], levels: opened[k], pinned: false, top, each: levelHeight })
      top += opened[k++] * levelHeight + 3
      continue
    }
    const first = k
    while (k < order.length && !opened[k] && (k === first || !names || names[k] === names[first])) k++
    strips.push({ rows: order.slice(first, k), levels: 0, pinned: false, top, each })
    top += (k - first) * each
  }
  return { strips, height: Math.ceil(top) }
}

// openedAtFirst returns the rows that have room for their levels, those with the fewest levels first.
export function openedAtFirst(order: number[], levels: (row: number) => number, room: number): number[] {
  let left = room - ruler - order.length * rowHeight
  if (order.length > 40) return []
  return [...order].sort((a, b) => levels(a) - levels(b)).filter(r => levels(r) > 0 && (left -= levels(r) * levelHeight + 3 - rowHeight) >= 0)
}
