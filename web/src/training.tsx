// Training jobs: workers as a map of slowdowns, steps to choose from, pipelines by micro-batch. Its figures are those of the document.

import { h, Fragment } from 'preact'
import { useMemo } from 'preact/hooks'
import { textOn } from './canvas'
import type { Document } from './data'
import { Described, shown, Tables } from './described'
import type { Model } from './model'
import { more, type Pipeline, type Worker } from './more'
import type { SectionProps } from './sections'
import { count, share, time } from './units'
import type { View } from './view'

// rowOf returns the row on which a worker computes: that of the types' regions or, where these are not regions, the device that works longest.
function rowOf(model: Model, types: string[], w: Worker): number {
  const named = model.names.some(n => types.includes(n)), computes = Uint8Array.from(model.head.activities, ([p]) => p >= 0 && (!named || types.includes(model.names[p])) ? 1 : 0)
  const rows = model.head.rows.map((_, r) => r).filter(r => model.head.rows[r].rank === w.rank && (named || model.head.rows[r].device))
  return rows.reduce((best, r) => best < 0 || model.timeIn(r, computes, 0, model.head.length_ns) > model.timeIn(best, computes, 0, model.head.length_ns) ? r : best, -1)
}

// stepView shows a step of the document in the timeline.
function stepView(doc: Document, step: number): Partial<View> {
  const { from_ns, to_ns } = doc.training.by_step[step], { start_ns } = doc.trace
  return { step, from: Math.max(from_ns - start_ns, 0), to: to_ns - start_ns }
}

// workerView shows a worker in the step in which it is slowest, its row on top and below it those of the stages before and after, which
// wait for it.
export function workerView(doc: Document, model: Model, w: Worker): Partial<View> {
  const { training, pipeline } = more(doc), { workers } = training!, { stages, steps } = pipeline!, at = pipeline!.workers.indexOf(workers.indexOf(w)), dp = Math.floor(at / stages)
  const worst = steps.reduce((a, b) => b.excess[workers.indexOf(w)] > a.excess[workers.indexOf(w)] ? b : a, steps[0])
  const beside = [at - 1, at + 1].filter(k => k >= 0 && Math.floor(k / stages) === dp).map(k => workers[pipeline!.workers[k]])
  return { tab: 'training', place: -1, path: -1, dp, batch: -1, pins: [w, ...beside].map(w => rowOf(model, pipeline!.types, w)).filter(r => r >= 0), ...worst && stepView(doc, worst.index) }
}

export const placeOf = (w: Worker) => `rank ${w.rank} (dp ${w.dp_rank}${w.tp_rank === undefined ? '' : `, tp ${w.tp_rank}`}, stage ${w.stage})`

// groupOf names the workers that run the stages of one pipeline.
const groupOf = (w: Worker) => w.tp_rank === undefined ? `${w.dp_rank}` : `${w.dp_rank}, ${w.tp_rank}`

export function Training(p: SectionProps) {
  const { doc, view, change } = p, { training, pipeline } = more(doc), steps: any[] = doc.training.by_step
  return <Fragment>
    {training!.facts.map(f => <p class="selected">{f}</p>)}
    <Steps {...p} />
    <div class={wide(pipeline!) ? '' : 'pair even'}><Workers {...p} /><Pipelines {...p} /></div>
    <Tables doc={doc} tab="training" uses={{
      training_workers: { chosen: w => isDP(doc, view, w), choose: w => change(workerView(doc, p.model, w)) },
      training_steps: { chosen: s => steps.indexOf(s) === view.step, choose: s => change(stepView(doc, steps.indexOf(s))) },
    }} />
  </Fragment>
}

// isDP reports whether a worker is the first of those of the data-parallel rank that is shown.
function isDP(doc: Document, view: View, w: Worker): boolean {
  const { training, pipeline } = more(doc)
  return Math.floor(pipeline!.workers.indexOf(training!.workers.indexOf(w)) / pipeline!.stages) === dpOf(doc, view)
}

// dpOf returns the data-parallel rank that is shown, by its place: that of the slowest worker, unless another is chosen.
function dpOf(doc: Document, view: View): number {
  const { workers, stages } = more(doc).pipeline!
  return view.dp >= 0 && view.dp * stages < workers.length ? view.dp : Math.floor(workers.indexOf(0) / stages)
}

// Steps are bars as high as steps are long, one slider: a step that is chosen is what the timeline shows.
function Steps({ doc, view, change }: SectionProps) {
  const t = doc.training, steps: any[] = t.by_step, s = steps[view.step], longest = steps.reduce((a, b, k) => b.step_ns > steps[a].step_ns ? k : a, 0), most = Math.max(steps[longest].step_ns, t.equal_ns, 1)
  const go = (k: number) => change(stepView(doc, Math.min(Math.max(k, 0), steps.length - 1)))
  const keys: Record<string, number> = { ArrowRight: view.step + 1, ArrowUp: view.step + 1, ArrowLeft: view.step - 1, ArrowDown: view.step - 1, Home: 0, End: steps.length - 1, PageUp: view.step + 10, PageDown: view.step - 10 }
  const said = s ? `Step ${s.step}: ${time(s.step_ns)}, slowdown ${shown('ratio', s.slowdown)}; slowest: rank ${s.rank}, ${share(s.excess)} beyond its peers` : `Mean of ${count(t.steps)} steps: ${time(t.step_ns)}, ${time(t.equal_ns)} with equal workers, slowdown ${shown('ratio', t.slowdown)}`
  return <figure class="steps">
    <div class="tools"><b role="status">{said}</b><span class="keys">
      <button aria-label="Step before" disabled={view.step <= 0} onClick={() => go(view.step - 1)}>◂</button><button aria-label="Next step" disabled={view.step === steps.length - 1} onClick={() => go(view.step + 1)}>▸</button>
      <button onClick={() => go(longest)}>Longest step</button><button disabled={!s} onClick={() => change({ step: -1 })}>All steps</button></span></div>
    <div role="slider" tabIndex={0} class="bars" aria-label="Step" aria-valuemin={-1} aria-valuemax={steps.length - 1} aria-valuenow={s ? view.step : -1} aria-valuetext={said}
      onKeyDown={e => { if (e.key in keys) { e.preventDefault(); go(keys[e.key]) } }}
      onClick={e => { const box = e.currentTarget.getBoundingClientRect(); go(Math.floor((e.clientX - box.left) / box.width * steps.length)) }}>
      <svg viewBox={`0 0 ${steps.length} 1`} preserveAspectRatio="none" height="54" aria-hidden="true">
        <path d={steps.map((x, k) => `M${k + 0.08} 1V${1 - x.step_ns / most}H${k + 0.92}V1Z`).join('')} />
        {s && <path class="chosen" d={`M${view.step} 1V${1 - s.step_ns / most}H${view.step + 1}V1Z`} />}
        <line x1="0" x2={steps.length} y1={1 - t.equal_ns / most} y2={1 - t.equal_ns / most} />
      </svg></div>
    <figcaption>Steps {steps[0].step} to {steps[steps.length - 1].step}, as high as they are long; line: with equal workers, {time(t.equal_ns)}.{t.steps_left_out > 0 && ` ${count(t.steps_left_out)} steps with other operations are left out.`}</figcaption>
  </figure>
}

// written is how many stages a map may have for numbers to stand in its cells.
const written = 12

// Workers is the map of slowdowns: data-parallel ranks down, stages across. Of a step it shows excesses, as far as the page has them.
function Workers({ doc, model, view, change }: SectionProps) {
  const { training, pipeline } = more(doc), { workers } = training!, { stages } = pipeline!, step = pipeline!.steps.find(s => s.index === view.step)
  const value = (k: number) => step ? step.excess[k] : workers[k].slowdown - 1, text = (k: number) => step ? share(step.excess[k]) : shown('ratio', workers[k].slowdown)
  const most = workers.reduce((m, _, k) => Math.max(m, value(k)), 0.05), dps = pipeline!.workers.length / stages, dp = dpOf(doc, view)
  const keys: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: stages, ArrowUp: -stages }
  const move = (e: KeyboardEvent, at: number) => {
    const next = (e.currentTarget as HTMLElement).closest('[role=grid]')!.querySelectorAll<HTMLElement>('[role=gridcell]')[at + keys[e.key]]
    if (!(e.key in keys)) return
    e.preventDefault()
    next?.focus()
  }
  const first = pipeline!.workers.indexOf(0)
  return <figure class="workers">
    <figcaption><b>{step ? `Computation beyond peers in step ${doc.training.by_step[step.index].step}` : 'Slowdown by worker'}</b> <span class="scale"><i style={{ '--part': 0 }} /> {step ? '0 %' : '1'} <i style={{ '--part': 1 }} /> {step ? share(most) : shown('ratio', 1 + most)}</span>. Across: stages.</figcaption>
    <div role="grid" aria-label="Workers: data-parallel ranks by stages" class={stages > written ? 'small' : ''} style={{ gridTemplateColumns: `auto repeat(${stages}, minmax(0, 1fr))` }}>
      <div role="row"><span role="columnheader">{workers[0].tp_rank === undefined ? 'dp' : 'dp, tp'}</span>{Array.from({ length: stages }, (_, s) => <span role="columnheader">{workers[pipeline!.workers[s]].stage}</span>)}</div>
      {Array.from({ length: dps }, (_, d) => <div role="row" class={d === dp ? 'shown' : ''}><span role="rowheader">{groupOf(workers[pipeline!.workers[d * stages]])}</span>{Array.from({ length: stages }, (_, s) => {
        const at = d * stages + s, k = pipeline!.workers[at], w = workers[k], part = Math.min(Math.max(value(k) / most, 0), 1), said = `${placeOf(w)}: ${text(k)}${w.evidence && `, ${w.evidence}`}`
        return <button role="gridcell" tabIndex={at === first ? 0 : -1} style={{ '--part': part }} class={part > 0.55 ? 'onfull' : ''} title={`${said}. Click to see it in the timeline.`} aria-label={said}
          onKeyDown={e => move(e, at)} onClick={() => change(workerView(doc, model, w))}>{stages <= written && text(k)}</button>
      })}</div>)}
    </div>
  </figure>
}

// narrow is how many computations a stage may have for the map of workers to stand beside the pipeline, digit which share of its width
// a number needs for each digit where it does not.
const narrow = 24, digit = 0.008

// wide reports whether a pipeline takes all of the page's width.
const wide = ({ computations, stages }: Pipeline) => computations.length > narrow * stages

// Pipelines shows the stages of a data-parallel rank in a step, one below the other, and what each computes of which micro-batch.
function Pipelines({ doc, model, view, change, coloring }: SectionProps) {
  const { training, pipeline } = more(doc), { stages, computations, types, steps } = pipeline!, { workers } = training!, dp = dpOf(doc, view)
  const step = view.step < 0 ? steps[0] : steps.find(s => s.index === view.step), dps = pipeline!.workers.length / stages
  const batches = useMemo(() => [...new Set(computations.map(c => c.batch))].sort((a, b) => a - b), [doc]), batch = batches.includes(view.batch) ? view.batch : -1
  // A type has the color of its region, or where it is none a tint of computing.
  const looks = types.map((t, k) => { const path = model.names.indexOf(t); return path < 0 ? { background: `color-mix(in srgb, var(--computing) ${k % 2 ? 20 : 45}%, var(--card))` } : { background: coloring.css(path), color: textOn(coloring.paths[path]) } }), row = doc.training.by_step[step?.index ?? view.step]
  const boxes = useMemo(() => {
    let at = 0, stage = -1
    return step ? computations.map((c, k) => {
      if (c.stage !== stage) { stage = c.stage; at = 0 }
      const [gap, length] = step.times[dp].slice(2 * k, 2 * k + 2), from = at + gap
      at = from + length
      return { ...c, from, length }
    }) : []
  }, [step, dp])
  const length = step ? row.to_ns - row.from_ns : 1
  return <figure class="pipeline">
    <figcaption><b>{step ? `Pipeline in step ${row.step}` : 'Pipeline'}{view.step < 0 && ', the longest'}</b>
      {dps > 1 && <label> {workers[0].tp_rank === undefined ? 'dp rank' : 'dp, tp rank'} <select value={dp} onChange={e => change({ dp: Number(e.currentTarget.value) })}>{Array.from({ length: dps }, (_, d) => <option value={d}>{groupOf(workers[pipeline!.workers[d * stages]])}</option>)}</select></label>}
      <label> micro-batch <select value={batch} onChange={e => change({ batch: Number(e.currentTarget.value) })}><option value={-1}>all</option>{batches.map(b => <option value={b}>{b}</option>)}</select></label></figcaption>
    {!step && <p class="faint">The page has no room for the micro-batches of this step: it has those of the longest {count(steps.length)}.</p>}
    {step && <div role="img" aria-label={`Stages of data-parallel rank ${workers[pipeline!.workers[dp * stages]].dp_rank} in step ${row.step}: ${count(boxes.length)} computations of ${count(batches.length)} micro-batches in ${time(length)}`}>
      {Array.from({ length: stages }, (_, s) => {
        const w = workers[pipeline!.workers[dp * stages + s]]
        return <div class="lane"><span class={w.evidence ? 'slow' : ''} title={w.evidence}>{w.stage} · rank {w.rank}</span><div>{boxes.filter(b => b.stage === s).map(b =>
          <i class={batch >= 0 && b.batch !== batch ? 'other' : ''} style={{ left: `${100 * b.from / length}%`, width: `${100 * b.length / length}%`, ...looks[b.type], ...b.length < (wide(pipeline!) ? 1 : 2) * digit * `${b.batch}`.length * length && { fontSize: 0 } }}
            title={`${types[b.type]} of micro-batch ${b.batch}${b.chunk >= 0 ? `, chunk ${b.chunk}` : ''} on ${placeOf(w)}: ${time(b.length)}, after ${time(b.from)}`} onClick={() => change({ batch: batch === b.batch ? -1 : b.batch })}>{b.batch}</i>)}</div></div>
      })}</div>}
    <ul class="legend">{types.map((t, k) => computations.some(c => c.type === k) && <li><span><span class="swatch" style={{ background: looks[k].background }} />{t}</span></li>)}{step && <li class="faint">{time(length)} from left to right; numbers: micro-batches</li>}</ul>
  </figure>
}
