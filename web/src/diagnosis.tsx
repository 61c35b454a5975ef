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
  const sentences = unbroken((more(doc).unclassified ?? []).join(' ')).split(/(?<=\.) (?=[A-Z])/)
  const startup = more(doc).startup ?? [] // stands last
  const order = (causes ?? []).map((_, k) => k).sort((a, b) => Number(startup.includes(a)) - Number(startup.includes(b)) || a - b)
  const job = doc.training && more(doc).pipeline?.steps.length, workers = useWorkers(doc, model, view, job ? causes?.length ? first - 1 : first : 0), { slow, at } = workers
  if (!causes?.length && job) return <Job {...{ doc, model, view, change, workers }} />
  if (!causes) return <section aria-label="Diagnosis">
    <h2>What to fix</h2>
    <p>Causes are sought where ranks wait for each other, threads work together, or devices are launched: this trace has none of these.{doc.file_io && <Fragment> What calls on files take stands in <button onClick={() => change({ tab: 'files' })}>Files</button>.</Fragment>}</p>
  </section>
  const shown = causes[view.place < 0 ? order[0] : view.place], most = first - slow.length, all = every || order.indexOf(view.place) >= most
  return <section aria-label="Diagnosis" class="diagnosis">
    <div class="tools"><h2>What to fix</h2>
      {causes.length > 1 && <span class="faint">Savings overlap: do not add them.</span>}
      {causes.length > most && <button class="more" disabled={order.indexOf(view.place) >= most} aria-expanded={all} onClick={() => setEvery(!every)}>{all ? 'Fewer' : `${causes.length - most} more ${causes.length - most === 1 ? 'cause' : 'causes'}`}</button>}</div>
    {causes.length === 0 && <p>Nothing worth fixing was found: no single change would make the run shorter by much.</p>}
    <ol class={all ? 'causes' : 'causes begun'}><SlowWorkers {...workers} change={change} />{order.map(k => <Cause c={causes[k]} pressed={view.place === k} startup={startup.includes(k)} choose={() => choose(view.place === k ? -1 : k)} />)}</ol>
    {shown && <p class="evidence" tabIndex={0} role="region" aria-label="Evidence">{/* always as high, so that nothing moves under the pointer */}
      {at >= 0 ? `Rank ${slow[at].rank} computes ${share(slow[at].excess)} longer than its peers. ${more(doc).training!.facts.map(unbroken).join(' ')}`
        : <Fragment>{shown.try && <Fragment><span class="try">Try: {unbroken(shown.try)}</span><br /></Fragment>}{unbroken(brief(shown.text))} {unbroken(shown.change)}</Fragment>}</p>}
    {more(doc).unclassified && <details class="faint"><summary>{sentences[0]}</summary>{sentences.slice(1).join(' ')}</details>}
  </section>
}

// Slow are the workers of a training job whose replacement would gain most, how each is shown, and which of them is chosen, -1: none.
interface Slow { slow: Worker[]; views: Partial<View>[]; at: number }

function useWorkers(doc: Document, model: Model, view: View, most: number): Slow {
  const slow = useMemo(() => most ? more(doc).training!.workers.filter(w => w.evidence && w.slowdown >= 1.005).slice(0, most) : [], [doc, most])
  const views = useMemo(() => slow.map(w => workerView(doc, model, w)), [slow, model])
  return { slow, views, at: views.findIndex(v => chosen(view, v)) }
}

// chosen reports whether a worker is what is shown, by its row.
const chosen = (view: View, of: Partial<View>) => view.place < 0 && view.pins.length > 0 && view.pins[0] === of.pins![0]

// SlowWorkers has a line each; one that is chosen is shown in its worst step.
function SlowWorkers({ slow, views, at, change }: Slow & { change: (v: Partial<View>) => void }) {
  return <Fragment>{slow.map((w, k) => <li><button aria-pressed={k === at} onClick={() => change(views[k])}>
    <span class="gain" title={term('slowdown')}>{written('ratio', w.slowdown)} <small>slowdown</small></span><b>{placeOf(w)}: {w.evidence}</b></button></li>)}</Fragment>
}

// Job is what to fix in a training job of which nothing else is known: the slowest workers or, where none is slow for itself, the slowest stage.
function Job({ doc, model, view, change, workers }: { doc: Document; model: Model; view: View; change: (v: Partial<View>) => void; workers: Slow }) {
  const { facts, workers: all } = more(doc).training!, lost = Math.max(1 - doc.training.equal_ns / doc.training.step_ns, 0)
  const stage = doc.training.by_stage.reduce((a: any, b: any) => b.slowdown > a.slowdown ? b : a), of = useMemo(() => workerView(doc, model, all.find(w => w.stage === stage.number)!), [doc, model])
  return <section aria-label="Diagnosis" class="diagnosis">
    <div class="tools"><h2>What to fix</h2><span class="faint">Lost to unequal workers: {share(lost)} of a step, {time(doc.training.step_ns - doc.training.equal_ns)}</span></div>
    <ol class="causes"><SlowWorkers {...workers} change={change} />
      {workers.slow.length === 0 && stage.slowdown >= 1.005 && <li><button aria-pressed={chosen(view, of)} onClick={() => change(of)}>
        <span class="gain" title={term('slowdown')}>{written('ratio', stage.slowdown)} <small>slowdown</small></span><b>Stage {stage.number}</b></button></li>}</ol>
    <p class="evidence" tabIndex={0} role="region" aria-label="Evidence">{facts.map(unbroken).join(' ')}</p>
  </section>
}

// Cause is one line.
function Cause({ c, pressed, startup, choose }: { c: any; pressed: boolean; startup: boolean; choose: () => void }) {
  return <li class={startup ? 'faint' : ''}><button aria-pressed={pressed} onClick={choose}>
    <span class="gain" title={`${term('gain')} ${c.change}`}>{c.gain_share == null ? '?' : share(c.gain_share)} <small>{c.gain_ns == null ? 'unknown' : `−${time(c.gain_ns)}`}</small></span>
    <b>{brief(c.headline)}</b>
  </button></li>
}
