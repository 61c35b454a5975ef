// What is chosen, shared by all parts of the page and kept in its address.

import type { Shown } from './counterview'
import type { ColorBy } from './model'
import { groupings, kinds, type Band, type Grouping, type Kind } from './rows'

// A Note is a text at a time, ns.
export interface Note { at: number; text: string }

export interface View {
  from: number; to: number                 // of the timeline, ns
  select: [number, number] | null          // a stretch of time that restricts the tables
  color: ColorBy
  sort: 'rank' | 'name' | 'wait' | 'busy'
  only: '' | Kind                          // rows of one kind
  group: '' | Grouping; closed: string[]   // what rows stand together by, and the names of groups that are one row
  band: Band | null                        // some of the rows that are arranged
  open: number[] | null                    // rows whose levels of calls are shown, null: of all if there is room
  tab: string
  place: number                            // index into the diagnosis that is shown, -1: none
  instance: number                         // which of a cause's that is shown, 0: the worst
  pins: number[]                           // rows that stand above the others
  path: number                             // call path that is chosen, -1: none
  metric: string                           // of the call tree: '' (time), 'waiting' or a wait state
  shape: typeof shapes[number]             // of call paths
  difference: boolean                      // of several runs: flame graph and map show it by color
  line: number                             // index into the source lines, -1: none
  file: string                             // that is shown, with the line after a colon
  matrix: Matrix                           // what the matrix of messages shows
  grid: number                             // topology in which ranks are shown, -1: bars, -2: call paths by ranks
  search: string
  notes: Note[]
  messages: boolean
  critical: boolean
  run: number                              // that the page is about
  align: '' | 'start' | 'init' | 'phase'   // of several runs
  counters: Shown[]                        // curves below the timeline
}

// How call paths are shown.
export const shapes = ['tree', 'flame', 'callers'] as const

// What the matrix of messages can show.
export const matrices = ['bytes', 'messages', 'time', 'waits'] as const
export type Matrix = typeof matrices[number]

// initial is the view of a page that is opened without further address: of a stretch of time.
export function initial([from, to]: [number, number]): View {
  return { from, to, select: null, color: 'region', sort: 'rank', only: '', group: '', closed: [], band: null, open: null, tab: 'calls', place: -1, instance: 0, pins: [], path: -1, metric: '', shape: 'tree', difference: true, line: -1, file: '', matrix: 'bytes', grid: -1, search: '', notes: [], messages: true, critical: false, run: 0, align: '', counters: [] }
}

export function toHash(v: View, d: View): string {
  const out = new URLSearchParams()
  for (const k of Object.keys(d) as (keyof View)[]) {
    const now = JSON.stringify(v[k])
    if (now !== JSON.stringify(d[k])) out.set(k, typeof v[k] === 'string' ? v[k] as string : now)
  }
  return out.toString()
}

// fromHash believes nothing: what does not fit is left at its default.
export function fromHash(hash: string, begin: View, length: number): View {
  const v = { ...begin }
  const get = new URLSearchParams(hash.replace(/^#/, ''))
  const number = (k: string, low: number, high: number, otherwise: number) => {
    const n = Number(get.get(k) ?? NaN)
    return n >= low && n <= high ? n : otherwise
  }
  v.from = number('from', 0, length, begin.from)
  v.to = number('to', 0, length, begin.to)
  if (v.to <= v.from) { v.from = begin.from; v.to = begin.to }
  const stretch = (k: string, most: number): [number, number] | null => {
    try {
      const s = JSON.parse(get.get(k) ?? 'null')
      return Array.isArray(s) && s.length === 2 && s[0] >= 0 && s[0] < s[1] && s[1] <= most ? [s[0], s[1]] : null
    } catch { return null } // an address that was typed
  }
  const list = (k: string, fits: (v: any) => boolean): unknown[] | null => {
    try {
      const all = JSON.parse(get.get(k) ?? 'null')
      return Array.isArray(all) && all.every(fits) ? all : null
    } catch { return null }
  }
  const rows = (k: string) => list(k, r => Number.isInteger(r) && r >= 0) as number[] | null
  v.select = stretch('select', length)
  const choose = <T extends string>(k: string, of: readonly T[], otherwise: T): T => of.find(x => x === get.get(k)) ?? otherwise
  v.color = choose('color', ['region', 'class', 'wait'] as const, v.color)
  if (get.get('color')?.startsWith('counter:')) v.color = get.get('color') as ColorBy
  v.sort = choose('sort', ['rank', 'name', 'wait', 'busy'] as const, v.sort)
  v.only = choose('only', ['', ...kinds], '')
  v.group = choose('group', ['', ...groupings], '')
  v.closed = list('closed', s => typeof s === 'string') as string[] ?? []
  v.band = stretch('band', 1e9)
  v.open = rows('open')
  v.tab = get.get('tab') ?? v.tab
  v.place = number('place', -1, 1e6, -1)
  v.instance = number('instance', 0, 1e6, 0)
  v.pins = rows('pins') ?? []
  v.path = number('path', -1, 1e9, -1)
  v.metric = get.get('metric') ?? ''
  v.line = number('line', -1, 1e9, -1)
  v.file = get.get('file') ?? ''
  v.matrix = choose('matrix', matrices, v.matrix)
  v.grid = number('grid', -2, 1e6, -1)
  v.shape = choose('shape', shapes, v.shape)
  v.search = get.get('search') ?? ''
  v.run = number('run', 0, 1e3, 0)
  v.align = choose('align', ['', 'start', 'init', 'phase'] as const, '')
  v.messages = get.get('messages') !== 'false'
  v.difference = get.get('difference') !== 'false'
  v.critical = get.get('critical') === 'true'
  v.notes = (list('notes', n => n?.at >= 0 && n.at <= length && typeof n.text === 'string') as Note[] ?? []).map(n => ({ at: n.at, text: n.text.slice(0, 200) }))
  v.counters = (list('counters', s => typeof s?.name === 'string') as Shown[] ?? []).map(s => ({ name: s.name, rows: s.rows === true }))
  return v
}
