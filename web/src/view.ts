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
  placed: string                           // metric of the run that a topology shows, '': the times of the section
  grid: number                             // topology in which ranks are shown, -1: bars, -2: call paths by ranks
  step: number; dp: number; batch: number  // of a training job: indices of a step and of a data-parallel rank, and a micro-batch; -1: none
  search: string
  notes: Note[]
  messages: boolean
  critical: boolean
  run: number                              // that the page is about
  align: '' | 'start' | 'init' | 'phase'   // of several runs
  counters: Shown[]                        // curves below the timeline
}

// toggled returns a list without an element that it has, or with one that it has not.
export function toggled<T>(list: T[], x: T): T[] { return list.includes(x) ? list.filter(o => o !== x) : [...list, x] }

// How call paths are shown.
export const shapes = ['tree', 'flame', 'callers'] as const

// What the matrix of messages can show.
export const matrices = ['bytes', 'messages', 'time', 'waits'] as const
export type Matrix = typeof matrices[number]

// initial is the view of a page that is opened without further address: of a stretch of time.
export function initial([from, to]: [number, number]): View {
  return { from, to, select: null, color: 'region', sort: 'rank', only: '', group: '', closed: [], band: null, open: null, tab: 'calls', place: -1, instance: 0, pins: [], path: -1, metric: '', shape: 'tree', difference: true, line: -1, file: '', matrix: 'bytes', grid: -1, placed: '', step: -1, dp: -1, batch: -1, search: '', notes: [], messages: true, critical: false, run: 0, align: '', counters: [] }
}

export function toHash(v: View, d: View): string {
  const out = new URLSearchParams()
  for (const k of Object.keys(d) as (keyof View)[]) {
    const now = JSON.stringify(v[k])
    if (now !== JSON.stringify(d[k])) out.set(k, typeof v[k] === 'string' ? v[k] as string : now)
  }
  return out.toString()
}

// A Read reads a value of the address, undefined: it does not fit.
type Read<T> = (text: string) => T | undefined

const within = (low: number, high: number): Read<number> => t => t !== '' && Number(t) >= low && Number(t) <= high ? Number(t) : undefined
const one = <T extends string>(...of: readonly T[]): Read<T> => t => of.find(x => x === t)
const flag: Read<boolean> = t => t === 'true' ? true : t === 'false' ? false : undefined
const parsed = <T,>(fits: (v: any) => boolean, made = (v: any): T => v): Read<T> => t => {
  try { const v = JSON.parse(t); return fits(v) ? made(v) : undefined } catch { return undefined } // an address that was typed
}
const list = <T,>(fits: (v: any) => boolean, made?: (v: any) => T) => parsed<T[]>(v => Array.isArray(v) && v.every(fits), v => made ? v.map(made) : v)
const stretch = (most: number) => parsed<[number, number]>(s => Array.isArray(s) && s.length === 2 && s[0] >= 0 && s[0] < s[1] && s[1] <= most)
const rows = list<number>(r => Number.isInteger(r) && r >= 0), index = within(-1, 1e9)

// fromHash believes nothing: what does not fit is left at its default.
export function fromHash(hash: string, begin: View, length: number): View {
  const reads: { [K in keyof View]: Read<View[K]> } = {
    from: within(0, length), to: within(0, length), select: stretch(length), color: t => t.startsWith('counter:') ? t as ColorBy : one('region', 'class', 'wait')(t),
    sort: one('rank', 'name', 'wait', 'busy'), only: one('', ...kinds), group: one('', ...groupings), closed: list<string>(s => typeof s === 'string'), band: stretch(1e9), open: rows,
    tab: t => t, place: index, instance: within(0, 1e6), pins: rows, path: index, metric: t => t, shape: one(...shapes), difference: flag, line: index, file: t => t,
    matrix: one(...matrices), grid: within(-2, 1e6), placed: one('', 'useful', 'waits', 'hops', 'bytes'), step: index, dp: index, batch: index, search: t => t, run: within(0, 1e3), align: one('', 'start', 'init', 'phase'), messages: flag, critical: flag,
    notes: list<Note>(n => n?.at >= 0 && n.at <= length && typeof n.text === 'string', n => ({ at: n.at, text: n.text.slice(0, 200) })),
    counters: list<Shown>(s => typeof s?.name === 'string', s => ({ name: s.name, rows: s.rows === true })),
  }
  const v: any = { ...begin }, get = new URLSearchParams(hash.replace(/^#/, ''))
  for (const [k, read] of Object.entries(reads)) v[k] = (get.has(k) ? read(get.get(k)!) : undefined) ?? v[k]
  return v.to > v.from ? v : { ...v, from: begin.from, to: begin.to }
}
