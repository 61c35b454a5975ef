// What to fix: the causes, each with what mending it would gain.

import { h, Fragment } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Document } from './data'
import { shown as written } from './described'
import type { Model } from './model'
import { more, type Worker } from './more'
import { term } from './terms'
import { placeOf, workerView } from './training'
import { brief, share, time, unbroken } from './units'
import type { View } from './view'

// first is how many causes are shown at first, so that the timeline is in sight (page.css hides the others).
const first = 3

// Diagnosis shows the causes in lines, and below them the evidence of the chosen one, or of the first.
export function Diagnosis({ doc, model, view, change, choose }: { doc: Document; model: Model; view: View; change: (v: Partial<View>) => void; choose: (cause: number) => void }) {
  const causes: any[] | undefined = doc.diagnosis
  const [every, setEvery] = useState(false)
  const startup = more(doc).startup ?? [] // stands last
  const order = (causes ?? []).map((_, k) => k).sort((a, b) => Number(startup.includes(a)) - Number(startup.includes(b)) || a - b)
  const job = doc.training && more(doc).pipeline?.steps.length
  const views = useMemo(() => (causes ?? []).map(c => job ? workerIn(doc, model, c) : undefined), [doc, model]), at = views.findIndex(v => v && chosen(view, v)) // of causes that are about a worker
  if (!causes?.length && job) return <Job {...{ doc, model, view, change }} />
  if (!causes) return <section aria-label="Diagnosis">
    <h2>What to fix</h2>
    {more(doc).files ? <p>{more(doc).files!.join(' ')} <button onClick={() => change({ tab: 'files' })}>Files</button></p>
      : <p>{more(doc).nothing ?? 'Causes are sought where ranks wait for each other, threads work together, or devices are launched: this trace has none of these.'}</p>}
  </section>
  const place = at >= 0 ? at : view.place, shown = causes[place < 0 ? order[0] : place], all = every || order.indexOf(place) >= first
  return <section aria-label="Diagnosis" class="diagnosis">
    <div class="tools"><h2>What to fix</h2>
      {causes.length > 1 && <span class="faint">Savings overlap: do not add them.</span>}
      {causes.length > first && <button class="more" disabled={order.indexOf(place) >= first} aria-expanded={all} onClick={() => setEvery(!every)}>{all ? 'Fewer' : `${causes.length - first} more ${causes.length - first === 1 ? 'cause' : 'causes'}`}</button>}</div>
    {more(doc).nothing && <p>{more(doc).nothing}</p>}
    <ol class={all ? 'causes' : 'causes begun'}>{order.map(k => <Cause c={causes[k]} pressed={place === k} startup={startup.includes(k)} choose={() => views[k] ? change(views[k]!) : choose(place === k ? -1 : k)} />)}</ol>
    {shown && <div class="evidence" tabIndex={0} role="region" aria-label="Evidence">{/* as high as the longest, so that nothing moves under the pointer */}
      {causes.map(c => <p class={c === shown ? '' : 'other'}>{c.try && <Fragment><span class="try">Try: {unbroken(c.try)}</span> </Fragment>}{unbroken(brief(c.text))} {unbroken(c.change)}</p>)}</div>}
  </section>
}

// workerIn shows the worker that a cause is about, of a stage its slowest, in its worst step; undefined if it is about none or has no row.
function workerIn(doc: Document, model: Model, c: any): Partial<View> | undefined {
  const is = (key: 'dp_rank' | 'tp_rank' | 'stage', w: Worker) => c.evidence[key] === undefined || c.evidence[key] === w[key]
  const w = c.evidence.step_gain_ns === undefined ? undefined : more(doc).training!.workers.find(w => is('dp_rank', w) && is('tp_rank', w) && is('stage', w))
  const shown = w && workerView(doc, model, w)
  return shown?.pins!.length ? shown : undefined // of some timelines workers have no rows
}

// chosen reports whether a worker is what is shown, by its row.
const chosen = (view: View, of: Partial<View>) => view.place < 0 && view.pins.length > 0 && view.pins[0] === of.pins![0]

// Job is what to fix in a training job without causes: the slowest workers or, where none is slow for itself, the slowest stage.
function Job({ doc, model, view, change }: { doc: Document; model: Model; view: View; change: (v: Partial<View>) => void }) {
  const { facts, workers: all } = more(doc).training!, lost = Math.max(1 - doc.training.equal_ns / doc.training.step_ns, 0)
  const slow = useMemo(() => all.filter(w => w.evidence && w.slowdown >= 1.005).slice(0, first), [doc]), stage = doc.training.by_stage.reduce((a: any, b: any) => b.slowdown > a.slowdown ? b : a)
  const lines = slow.map(w => ({ w, slowdown: w.slowdown, name: `${placeOf(w)}: ${w.evidence}` }))
  if (!lines.length && stage.slowdown >= 1.005) lines.push({ w: all.find(w => w.stage === stage.number)!, slowdown: stage.slowdown, name: `Stage ${stage.number}` })
  const views = useMemo(() => lines.map(l => workerView(doc, model, l.w)), [doc, model])
  return <section aria-label="Diagnosis" class="diagnosis">
    <div class="tools"><h2>What to fix</h2><span class="faint">Lost to unequal workers: {share(lost)} of a step, {time(doc.training.step_ns - doc.training.equal_ns)}</span></div>
    <ol class="causes">{lines.map((l, k) => <li><button aria-pressed={chosen(view, views[k])} onClick={() => change(views[k])}>
      <span class="gain" title={term('slowdown')}>{written('ratio', l.slowdown)} <small>slowdown</small></span><b>{l.name}</b></button></li>)}</ol>
    <div class="evidence" tabIndex={0} role="region" aria-label="Evidence"><p>{facts.map(unbroken).join(' ')}</p></div>
  </section>
}

// Cause is one line.
function Cause({ c, pressed, startup, choose }: { c: any; pressed: boolean; startup: boolean; choose: () => void }) {
  return <li class={startup ? 'faint' : ''}><button aria-pressed={pressed} onClick={choose}>
    <span class="gain" title={`${term('gain')} ${c.change}`}>{c.gain_share == null ? '?' : share(c.gain_share)} <small>{c.gain_ns == null ? 'unknown' : `−${time(c.gain_ns)}`}</small></span>
    <b title={brief(c.headline)}>{brief(c.headline)}</b> {where(c) && <span class="faint">{where(c)}</span>}
  </button></li>
}

// where says of a cause what its headline does not: which ranks it is about, else which call.
function where({ headline, ranks, region, operation }: any): string {
  const says = (what: unknown) => new RegExp(`(^|[^\\w])${`${what}`.replace(/[^\w]/g, '\\$&')}($|[^\\w])`).test(headline), places = [...new Set([operation, region])].filter(p => p && p !== '(not recorded)' && !says(p))
  if (ranks.length && ranks.length <= 4) return ranks.every(says) ? '' : `${ranks.length > 1 ? 'ranks' : 'rank'} ${ranks.join(', ')}`
  return says(operation) ? '' : places.join(' in ')
}
