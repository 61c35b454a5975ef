// What the page has beside the analysis and its timeline (page/more.go says how it is made).

import type { Document } from './data'

export interface KeyBars {
  role: string; processes: number; bytes: number; calls: number
  origin_ns: number; width_ns: number
  counts: number[]      // by bar; the last are beyond all
  expected?: number[]   // by the law
  law: string; p_value: number | null
  t_max_ns: number; from: string; unreliable: boolean
}

export interface LineCalls { region: string; file: string; line: number; operation: string; keys: KeyBars[]; keys_of: number }

// A Grid is a topology; at says for a rank, which comes first, where it is in each dimension. Metrics are of the run, by rank.
export interface Grid { name: string; sizes: number[]; at: number[][]; metrics: Record<string, (number | null)[]> }

export interface SourceFile { name: string; found: string; others: number; lines: number; parts: { first: number; text: string[] }[] | null }

export interface Term { word: string; meaning: string; section?: string }

export interface Worker { rank: number; dp_rank: number; tp_rank?: number; stage: number; slowdown: number; excess: number; evidence: string }

// A Pipeline has the computations of steps of a training job, the longest steps first (stats/stragglers/pipeline.go).
export interface Pipeline {
  types: string[]; stages: number
  computations: { stage: number; type: number; batch: number; chunk: number }[]
  workers: number[] // dp · stages + stage: index of the worker
  steps: { index: number; excess: number[]; times: number[][] }[]
}

// A Table as package report describes it.
export interface ColumnOf { key: string; title: string; unit?: string; of?: string; with?: string; says?: string; term?: string; modelled?: boolean; bar?: boolean; faces?: number }
export interface TableOf { key: string; title: string; tab: string; path: string; where?: string; note?: string; modelled?: boolean; columns: ColumnOf[] }

export interface More {
  tables: TableOf[]
  waits: Record<string, string> // titles by key
  kernels: any[] | null
  kernels_of: number // how many there are: the first are kept
  host_waits: any[] | null
  writer?: string // format and recorder
  ranks?: string // how many, of several
  doubts?: string[] // what makes all else doubtful
  splits?: { title: string; about: string; parts: { label: string; kind: string; share: number }[]; notes?: string[] }[]
  startup?: number[] // causes that are of startup
  unclassified?: string[] // what has no cause
  hidden?: string // why no efficiency is known
  nothing?: string // why no cause is listed
  files?: string[] // whether the program waits for files
  lines: LineCalls[]; lines_of: number
  grids: Grid[]
  sources: SourceFile[] | null
  lost: string[] | null
  training?: { facts: string[]; workers: Worker[] } // of a training job
  pipeline?: Pipeline
  views?: { sampled: string; rules: string[]; rows: any[] } // what each view would say of a call path
  sought: boolean
  terms: Term[] | null
}

export function more(doc: Document): More { return doc.more }
