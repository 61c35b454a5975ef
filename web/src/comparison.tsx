// What changed from one run to another, as tracekit compare says it.

import { h, Fragment } from 'preact'
import type { Document } from './data'
import { letter } from './runs'
import { place } from './described'
import type { SectionProps } from './sections'
import { Table, type Column } from './table'
import { term } from './terms'
import { count, share, time, unknown } from './units'

const signed = (v: number | null) => v == null ? unknown : v >= 10 ? `×${(v + 1).toPrecision(3)}` : `${v > 0 ? '+' : v < 0 ? '−' : ''}${share(Math.abs(v))}`
const what = (c: any) => c.kind === 'wait' ? 'waiting' : 'own time'
const where = (c: any) => (at => at === unknown ? c.operation || '(outside MPI)' : c.operation ? `${c.operation} in ${at}` : at)(place(c))

// verdict says in a sentence how long both runs take.
function verdict(c: any): string {
  const a = c.a.duration_ns, b = c.b.duration_ns, change = a > 0 ? b / a - 1 : null
  const text = change == null ? '' : Math.abs(change) < 0.0005 ? ', as long as A' : `, ${share(Math.abs(change))} ${change > 0 ? 'longer' : 'shorter'} than A`
  return `${c.letter} takes ${time(b)}${text} (${time(a)}); ${c.significant === 1 ? '1 change' : c.significant ? `${count(c.significant)} changes` : 'no change'} beyond noise.`
}

// WhatChanged stands before the diagnosis: the heaviest changes, which show themselves in the
// timelines.
export function WhatChanged({ doc, model, view, change }: SectionProps) {
  const c = doc.comparison
  if (!c) return null
  const changes: any[] = c.changes.filter((x: any) => x.significant && x.kind !== 'run').slice(0, 3)
  return <section aria-label="What changed">
    <div class="tools"><h2>What changed</h2><span>{verdict(c)}</span></div>
    {!c.comparable.alike && <p class="warning">These are runs of different shape: {c.comparable.reasons.join('; ')}. Sums of different ranks are compared.</p>}
    <ol class="causes">{changes.map(x => {
      const activity = model.at(x).indexOf(1), path = activity < 0 ? -1 : model.head.activities[activity][0]
      return <li><button aria-pressed={path >= 0 && view.path === path} title={`${time(x.a)} in A, ${time(x.b)} in ${c.letter}, summed over ranks`} onClick={() => change({ path: view.path === path ? -1 : path, place: -1, search: '' })}>
        <span class="gain">{x.change == null ? 'new' : signed(x.change)} <small>{`${x.b > x.a ? '+' : '−'}${time(Math.abs(x.b - x.a))}`}</small></span>
        <b>{what(x)}: {where(x)}</b> <span class="faint">{x.ranks?.length ? `${x.ranks.length === 1 ? 'rank' : 'ranks'} ${x.ranks.slice(0, 8).join(', ')}${x.ranks.length > 8 ? ' …' : ''} · ` : ''}{time(x.a)} → {time(x.b)}</span>
      </button></li>
    })}</ol>
  </section>
}

// Comparison is all that is compared.
export function Comparison({ doc }: SectionProps) {
  const c = doc.comparison
  const efficiencies: Column<any>[] = [
    { name: 'Efficiency', value: r => r.name.replaceAll('_', ' ') }, { name: 'A', value: r => r.a, show: r => share(r.a) }, { name: c.letter, value: r => r.b, show: r => share(r.b) },
    { name: 'Change', value: r => r.change, show: r => signed(r.change) },
  ]
  const changes: Column<any>[] = [
    { name: 'Place', value: r => place(r) }, { name: 'Operation', value: r => r.operation || '(outside MPI)' }, { name: 'What', value: what },
    { name: 'A', title: term('sum over ranks'), value: r => r.a, show: r => time(r.a) }, { name: c.letter, title: term('sum over ranks'), value: r => r.b, show: r => time(r.b) },
    { name: 'Change', value: r => r.change, show: r => r.change == null ? 'new' : signed(r.change) }, { name: '± noise', value: r => r.noise, show: r => share(r.noise) },
    { name: 'Weight', title: term('weight'), value: r => r.weight_ns, show: r => time(r.weight_ns), bar: true },
    { name: 'Ranks', value: r => r.ranks?.length ? r.ranks.slice(0, 6).join(', ') + (r.ranks.length > 6 ? ' …' : '') : 'all' },
    { name: 'More than noise', value: r => r.significant == null ? 'too little to judge' : r.significant ? 'yes' : 'no' },
  ]
  const results: Column<any>[] = [
    { name: 'Result', value: r => r.name }, { name: 'A', value: r => r.a, show: r => number(r.name, r.a) }, { name: c.letter, value: r => r.b, show: r => number(r.name, r.b) },
    { name: 'Change', value: r => r.change, show: r => signed(r.change) },
  ]
  return <Fragment>
    <p>A: {c.a.path}{c.a.rebuilt && ', rebuilt from statistics'}. {c.letter}: {c.b.path}{c.b.rebuilt && ', rebuilt from statistics'}.</p>
    <Table caption={`Efficiencies, ${c.efficiencies_with_startup || c.efficiencies.every((e: any) => e.name === 'thread_efficiency') ? 'whole run' : 'MPI_Init to MPI_Finalize (threads: whole run)'}`} columns={efficiencies} rows={c.efficiencies} />
    <Table caption="What changed, the heaviest first" columns={changes} rows={c.changes.filter((x: any) => x.a !== x.b)} />
    <Table caption="Results" note="Of the whole run, startup included." columns={results} rows={c.results} />
    {c.cut && <p class="faint">Of long tables the first rows are kept.</p>}
  </Fragment>
}

function number(name: string, v: number): string {
  return name.endsWith('_ns') ? time(v) : name.endsWith('efficiency') ? share(v) : v.toLocaleString('en-US', { maximumFractionDigits: 3 })
}

// comparisonOf returns the comparison that a run is part of: of the first run with it, of the
// first itself with the second.
export function comparisonOf(comparisons: (Document | null)[], run: number): Document | null {
  const k = Math.max(run, 1), c = comparisons[k]
  return c ? { ...c, letter: letter(k) } : null
}
