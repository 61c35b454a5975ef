// Several runs on one page: which one is looked at, the others' timelines on its axis of time.

import { h, Fragment } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Document, Timeline } from './data'
import { Model, type Coloring } from './model'
import { phasesOf } from './phasemarks'
import type { View } from './view'
import { Counters } from './counterview'
import { arranged, banded } from './rows'
import { TimelineView } from './timelineview'
import { time } from './units'

export interface Run { doc: Document; timeline: Timeline; address: string }

export type Align = 'start' | 'init' | 'phase'

// letter names a run in short: the first is A, what it is compared with B and so on.
export function letter(k: number): string { return String.fromCharCode(65 + k) }

// runName names a run by the last parts of its path, so that all differ where they can.
export function runName(runs: Run[], k: number): string {
  const parts = (r: Run) => String(r.doc.trace?.path ?? 'run').split('/').filter(p => p && p !== 'traces.otf2')
  const own = parts(runs[k])
  for (let n = 1; n < own.length; n++) {
    const name = own.slice(-n).join('/')
    if (runs.every((r, i) => i === k || parts(r).slice(-n).join('/') !== name)) return name
  }
  return own.join('/') || 'run'
}

// beginOf returns where a run begins as it is aligned, null if it has no such moment.
function beginOf({ doc, timeline }: Run, model: Model, align: Align): number | null {
  if (align === 'start') return 0
  if (align === 'phase') return phasesOf(doc)[0]?.from ?? null
  const init = Uint8Array.from(timeline.head.activities, ([p]) => p >= 0 && /^MPI_Init(_thread)?$/.test(model.names[p]) ? 1 : 0)
  let end = 0
  timeline.tally.kind.forEach((k, i) => { if (init[k]) end = Math.max(end, timeline.tally.end[i]) })
  return end || null
}

export interface Alignment { choices: Align[]; align: Align; begins: number[] }

// useAlignment finds the moments that all runs have, and where each run has the chosen one.
export function useAlignment(runs: Run[], models: Model[], wanted: string): Alignment {
  return useMemo(() => {
    const found = (['init', 'phase', 'start'] as Align[]).map(align => ({ align, begins: runs.map((r, k) => beginOf(r, models[k], align)) })).filter(a => a.begins.every(b => b !== null))
    const chosen = found.find(a => a.align === wanted) ?? found[0]
    return { choices: found.map(a => a.align), align: chosen.align, begins: chosen.begins as number[] }
  }, [runs, models, wanted])
}

const alignNames: Record<Align, string> = { start: 'at their start', init: 'at the end of MPI_Init', phase: 'at their first phase' }

interface Props { runs: Run[]; run: number; models: Model[]; alignment: Alignment; view: View; change: (v: Partial<View>) => void }

// RunChoice says which run is looked at, and how they are aligned.
export function RunChoice({ runs, run, alignment, view, change }: Props) {
  return <div role="group" aria-label="Runs" class="runs">
    <div role="radiogroup" aria-label="Run that the page is about">{runs.map((r, k) =>
      <label><input type="radio" name="run" checked={k === run} onChange={() => { location.hash = `run=${k}` }} /> <b>{letter(k)}</b> {runName(runs, k)} <span class="faint">{time(r.timeline.head.length_ns)}</span></label>)}</div>
    <label>Aligned <select value={alignment.align} onChange={e => change({ align: e.currentTarget.value as View['align'] })}>
      {alignment.choices.map(a => <option value={a}>{alignNames[a]}</option>)}</select></label>
  </div>
}

export function RunLabel({ runs, run }: { runs: Run[]; run: number }) {
  return <p class="run faint"><b>{letter(run)}</b> {runName(runs, run)}, {time(runs[run].timeline.head.length_ns)}</p>
}

// An Other is the run that one is compared with: A, or of A itself B.
export interface Other { model: Model; letter: string; own: string }

export function otherOf(models: Model[], run: number): Other | null {
  const k = run ? 0 : 1
  return models[k] ? { model: models[k], letter: letter(k), own: letter(run) } : null
}

// same returns the path of a model whose regions are those of a path of another, -1: there is none.
export function same(from: Model, path: number, to: Model): number {
  if (path < 0 || !from.head.paths[path]) return -1
  const names = (m: Model, p: number) => m.pathRegions(p).map(q => m.names[q]).join('\n')
  const wanted = names(from, path), own = from.names[path]
  return to.names.findIndex((n, p) => n === own && names(to, p) === wanted)
}

// Companions are the timelines of the other runs, with their curves of the counters that are shown.
export function Companions({ runs, run, models, alignment, view, change, dark, lit }: Props & { dark: boolean; lit: (m: Model, path: number) => Uint8Array | null }) {
  const colorings = useMemo(() => models.map(m => m.coloring(view.color, dark)), [models, view.color, dark])
  return <Fragment>{runs.map((_, k) => k !== run && <Companion key={k} {...{ runs, run, models, alignment, view, change, dark, lit, k }} coloring={colorings[k]} />)}</Fragment>
}

const none: number[] = []

// Companion is the timeline of run k. In its own time, it is looked at from view.from + shift.
function Companion({ runs, run, models, alignment, view, change, dark, lit, k, coloring }: Parameters<typeof Companions>[0] & { k: number; coloring: Coloring }) {
  const model = models[k], shift = alignment.begins[k] - alignment.begins[run]
  const all = useMemo(() => arranged(model, view, true), [model, view.sort, view.only, view.group])
  const order = useMemo(() => banded(all, view.band), [all, view.band]), phases = useMemo(() => phasesOf(runs[k].doc), [runs, k])
  const path = useMemo(() => same(models[run], view.path, model), [models, run, view.path, model]), lights = useMemo(() => lit(model, path), [lit, model, path])
  const own: View = { ...view, from: view.from + shift, to: view.to + shift, select: view.select && [view.select[0] + shift, view.select[1] + shift], path, open: null, notes: view.notes.map(n => ({ ...n, at: n.at + shift })) }
  const changed = (v: Partial<View>) => {
    const back: Partial<View> = { ...v }
    for (const k of ['open', 'pins', 'notes'] as const) delete back[k] // of the run that is looked at
    if (v.from !== undefined) back.from = v.from - shift
    if (v.to !== undefined) back.to = v.to - shift
    if (v.select) back.select = [v.select[0] - shift, v.select[1] - shift]
    if (v.path !== undefined) back.path = same(model, v.path, models[run])
    change(back)
  }
  return <div class="companion">
    <RunLabel runs={runs} run={k} />
    <TimelineView model={model} view={own} change={changed} coloring={coloring} order={order} arranged={all.length} pinned={none} part={0.35} lit={lights} marked={none}
      phases={phases} shaded={null} dark={dark} bounds={[shift, extent(runs, alignment, run) + shift]} />
    <Counters model={model} view={own} change={changed} order={order} dark={dark} shown={view.counters} />
  </div>
}

// extent returns when the last run ends, in the time of one.
export function extent(runs: Run[], alignment: Alignment, run: number): number {
  return Math.max(...runs.map((r, k) => r.timeline.head.length_ns - alignment.begins[k] + alignment.begins[run]))
}
