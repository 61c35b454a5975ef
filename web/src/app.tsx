import { h, render, Fragment } from 'preact'
import { answerTo, pinsOf, ranksOf, windowOf } from './answer'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { load, type Document } from './data'
import { Model, type ColorBy } from './model'
import { fromHash, initial, toHash, type View } from './view'
import { TimelineView } from './timelineview'
import { CallTree } from './calltree'
import { Findings, Profile, Waits, type SectionProps } from './sections'
import { Communication } from './communication'
import { Counters, ShadeLegend, byRow, useShades } from './counterview'
import { Find } from './find'
import { Guard } from './guard'
import { Legend } from './legend'
import { Lines } from './lines'
import { listen } from './listen'
import { more } from './more'
import { Diagnosis } from './diagnosis'
import { Dock, type Chosen } from './dock'
import { Header } from './header'
import { noteIn, Notes, saveDrawing, savePicture } from './notes'
import { Overview } from './overview'
import { paint } from './paint'
import { useDark } from './dark'
import { phasesOf } from './phasemarks'
import { Comparison, WhatChanged, comparisonOf } from './comparison'
import { arranged, banded, groupingsOf, groupOf, kindsOf, type Grouping } from './rows'
import { Companions, RunChoice, RunLabel, extent, otherOf, useAlignment, type Run } from './runs'
import { Scaling } from './scaling'
import { Source } from './source'
import { setTerms, Terms } from './terms'
import { Training } from './training'
import { Views } from './views'
import { Devices, Files, Phases, Threads } from './parts'
import { count, grain, instant, time } from './units'

type Tab = [id: string, name: string, part: (p: SectionProps) => any, there?: (doc: Document) => unknown]

const allTabs: Tab[] = [
  ['training', 'Training', Training, d => d.training && more(d).pipeline?.steps.length], ['compare', 'Comparison', Comparison, d => d.comparison], ['scaling', 'Scaling', Scaling, d => d.scaling],
  ['calls', 'Call tree', CallTree], ['lines', 'Source lines', Lines, d => d.lines?.length], ['source', 'Source', Source, d => more(d).sought], ['waits', 'Waits and causes', Waits, d => d.efficiency || d.threads],
  ['communication', 'Communication', Communication, d => d.messages?.count > 0 || d.collectives?.length], ['devices', 'Devices', Devices, d => d.devices?.length], ['threads', 'Threads', Threads, d => d.threads],
  ['phases', 'Phases', Phases, d => d.phases], ['files', 'Files', Files, d => d.file_io], ['profile', 'Profile', Profile], ['views', 'Views', Views, d => more(d).views], ['findings', 'Trace and findings', Findings], ['terms', 'Terms', Terms],
]

// useSettled reports whether the first view is drawn, after which what lies below it is made.
function useSettled(): boolean {
  const [settled, settle] = useState(false)
  useEffect(() => { (window.requestIdleCallback ?? setTimeout)(() => settle(true)) }, [])
  return settled
}

// What a selected stretch of time restricts.
const selective = ['calls', 'lines', 'source', 'waits', 'communication', 'devices', 'threads', 'phases', 'files', 'profile']

const none: number[] = []

// Page chooses one of several runs for the App.
function Page({ runs, comparisons, scaling }: { runs: Run[]; comparisons: (Document | null)[]; scaling: Document | null }) {
  const models = useMemo(() => runs.map(r => new Model(r.timeline, r.address)), [runs])
  const asked = (address: string) => Math.min(fromHash(new URL(address).hash, initial([0, 1]), 1).run, runs.length - 1)
  const [run, setRun] = useState(() => asked(location.href))
  useEffect(() => listen(window, { hashchange: e => setRun(asked(e.newURL)) }), []) // the page may have written its own since
  const doc = useMemo(() => ({ ...runs[run].doc, comparison: comparisonOf(comparisons, run), scaling }), [runs, run])
  return <App key={run} doc={doc} runs={runs} models={models} run={run} />
}

function App({ doc, runs, models, run }: { doc: Document; runs: Run[]; models: Model[]; run: number }) {
  const model = models[run], dark = useDark()
  useLayoutEffect(() => paint(model.head.palette, dark), [model, dark])
  const furthest = runs.reduce((s, r) => s + r.timeline.head.length_ns, 0)
  const begin = useMemo(() => ({ ...initial(runs.length > 1 ? [0, Math.max(...runs.map(r => r.timeline.head.length_ns))] : model.body()), ...doc.training && !doc.devices && { only: 'processes' as const }, tab: doc.scaling ? 'scaling' : doc.training ? 'training' : 'calls' }), [model])
  const [view, setView] = useState(() => fromHash(location.hash, begin, furthest))
  const alignment = useAlignment(runs, models, view.align)
  const length = runs.length > 1 ? extent(runs, alignment, run) : model.head.length_ns
  const change = useCallback((v: Partial<View>) => setView(old => ({ ...old, ...v })), [])
  // The address keeps the view; each zoom is an entry of the history, so that Back undoes it.
  const written = useRef<View>(view)
  useEffect(() => {
    const id = setTimeout(() => {
      const hash = '#' + toHash(view, begin), moved = view.from !== written.current.from || view.to !== written.current.to
      written.current = view
      if (hash !== location.hash && hash + location.hash !== '#') history[moved ? 'pushState' : 'replaceState'](null, '', hash)
    }, 250)
    return () => clearTimeout(id)
  }, [view])
  useEffect(() => listen(window, { hashchange: e => setView(fromHash(new URL(e.newURL).hash, begin, furthest)) }), [])

  const shaded = useShades(model, view), phases = useMemo(() => phasesOf(doc), [doc])
  const all = useMemo(() => arranged(model, view, shaded !== null), [model, view.sort, view.only, view.group, shaded !== null])
  const order = useMemo(() => banded(all, view.band), [all, view.band])
  const coloring = useMemo(() => model.coloring(view.color, dark, view.only ? all : undefined), [model, view.color, dark, view.only])
  const coarse = model.coarsest > 1
  const settled = useSettled()
  const counters = useMemo(() => [...new Set([model, ...models].flatMap(m => m.head.counters.map(c => c.name)))], [model, models])
  const ofKind = useMemo(() => kindsOf(model, arranged(model, { ...begin, only: '' }, shaded !== null)), [model, shaded !== null])
  const groupings = useMemo(() => groupingsOf(model, arranged(model, { ...begin, only: '' }, true)), [model])
  const cause = (doc.diagnosis ?? [])[view.place]
  const answer = useMemo(() => cause ? answerTo(model, doc, cause) : null, [model, doc, cause])
  const instance = answer?.instances[Math.min(view.instance, answer.instances.length - 1)]
  const [chosen, tell] = useState<Chosen | null>(null), drawn = useRef<(() => string) | null>(null)
  const { culprits, victims } = useMemo(() => answer ? pinsOf(model, answer, instance) : { culprits: none, victims: none }, [model, answer, instance])
  const told = useMemo(() => answer && { path: answer.path, ranks: ranksOf(model, answer, instance) }, [model, answer, instance])
  const pinned = useMemo(() => [...new Set([...culprits, ...victims, ...view.pins])].filter(r => r < model.head.rows.length), [culprits, victims, view.pins])
  const litIn = useCallback((model: Model, path: number) => {
    if (cause) { // and the waits, so that its victims stand out
      const at = model === models[run] ? answer?.lit : model.at(cause)
      return at?.includes(1) ? at.map((a, i) => a || model.head.activities[i][1] > 0 ? 1 : 0) : null
    }
    if (path >= 0 && path < model.head.paths.length) return model.below(path)
    const q = view.search.toLowerCase()
    return q ? Uint8Array.from(model.head.activities, ([p]) => p >= 0 && model.names[p].toLowerCase().includes(q) ? 1 : 0) : null
  }, [cause, answer, view.search])
  const lit = useMemo(() => litIn(model, view.path), [model, litIn, view.path])
  const other = useMemo(() => otherOf(models, run), [models, run])
  const above = [model.timeline.messages.sent.length > 0 && 'messages sent', model.timeline.collectives.length > 0 && 'collectives', phases.length > 0 && 'phases'].filter(Boolean).join(', ')
  const tabs = useMemo(() => allTabs.filter(([, , , there]) => !there || there(doc)), [doc])
  const Part = (tabs.find(([id]) => id === view.tab) ?? tabs[0])[2]
  // Moving the timeline changes nothing else on the page.
  const still = useMemo(() => view, Object.entries(view).filter(([k]) => k !== 'from' && k !== 'to').map(([, v]) => v))
  // A chosen cause shows where it is worst, and its call path below. One that is nowhere in the timeline moves nothing.
  const choose = useCallback((place: number) => { tell(null); setView(old => {
    const chosen = (doc.diagnosis ?? [])[place], found = chosen && answerTo(model, doc, chosen), worst = found?.instances[0]
    const [from, to] = worst ? windowOf(model, worst) : [old.from, old.to]
    return { ...old, place, instance: 0, path: found ? found.path : -1, from, to, ...chosen && { search: '' }, ...found && { tab: 'calls', metric: '' } }
  }) }, [doc, model])
  const shown = useMemo(() => cause ? { cause, answer, instance, culprits, victims, step: (way: 1 | -1) => {
    const n = answer!.instances.length, k = (answer!.instances.indexOf(instance!) + way + n) % n, [from, to] = windowOf(model, answer!.instances[k])
    change({ instance: k, from, to })
  } } : null, [cause, answer, instance, culprits, victims])
  const header = useMemo(() => <Header doc={doc} length={model.head.length_ns} name={runs.length > 1 ? `${runs.length} runs` : undefined}>
    {runs.length > 1 && <RunChoice runs={runs} run={run} models={models} alignment={alignment} view={view} change={change} />}</Header>, [doc, model, alignment, view.align])
  const diagnosis = useMemo(() => <Diagnosis doc={doc} model={model} view={still} change={change} choose={choose} />, [doc, model, still, choose])
  const changed = useMemo(() => <WhatChanged doc={doc} model={model} view={still} change={change} answer={null} culprits={none} coloring={coloring} other={other} tell={tell} />, [doc, model, still, coloring, other])
  const part = useMemo(() => <Part doc={doc} model={model} view={still} change={change} answer={told} culprits={culprits} coloring={coloring} other={other} tell={tell} />, [Part, doc, model, still, told, culprits, coloring, other])

  const choices = useMemo(() => <Fragment>
    <label>Colors <select value={view.color} onChange={e => change({ color: e.currentTarget.value as ColorBy })}>
      <option value="region">by region</option><option value="class">by class</option><option value="wait">by wait state</option>
      {model.head.counters.map((c, k) => byRow(model, k) && <option value={`counter:${c.name}`}>by {c.name}</option>)}</select></label>
    <label>Rows <select value={view.sort} onChange={e => change({ sort: e.currentTarget.value as View['sort'] })}>
      <option value="rank">by rank</option><option value="name">by name</option><option value="wait">most waiting first</option><option value="busy">least waiting first</option></select>
      {ofKind.length > 1 && <select aria-label="Kind of rows" value={view.only} onChange={e => change({ only: e.currentTarget.value as View['only'], band: null })}>
        <option value="">all</option>{ofKind.map(k => <option value={k}>{k}</option>)}</select>}
      {groupings.length > 0 && <select aria-label="Rows grouped" value={view.group} onChange={e => change({ group: e.currentTarget.value as View['group'], closed: [], band: null })}>
        <option value="">not grouped</option>{groupings.map(k => <option value={k}>by {k}</option>)}</select>}</label>
    {counters.length > 0 && <label>Counters <select value="" onChange={e => { change({ counters: [...view.counters, { name: e.currentTarget.value, rows: false }] }); e.currentTarget.value = '' }}>
      <option value="">show …</option>{counters.filter(c => !view.counters.some(s => s.name === c)).map(c => <option value={c}>{c}</option>)}</select></label>}
  </Fragment>, [model, still, counters, ofKind, groupings])
  const whole = view.from <= 0 && view.to >= length
  const buttons = useMemo(() => <div class="tools keys">{/* always all of them, so that nothing moves under the pointer */}
    <button disabled={whole} onClick={() => change({ from: 0, to: length })}>Whole run</button>
    <button disabled={order.length === all.length} onClick={() => change({ band: null })}>All {count(all.length)} rows</button>
    <button disabled={!view.select} onClick={() => change({ from: view.select![0], to: view.select![1] })}>Zoom to selection</button>
    <button disabled={!view.select} onClick={() => change({ select: null })}>Clear selection</button>
    {groupings.length > 0 && <button disabled={!view.group} aria-pressed={view.closed.length > 0} title="One row for each group; f, or a click on its name, opens or closes one" onClick={() => change({ closed: view.closed.length ? [] : [...new Set(all.map(r => groupOf(model, view.group as Grouping, r)))] })}>Fold groups</button>}
    <button disabled={!view.pins.length} onClick={() => change({ pins: [] })}>Unpin rows</button>
    {model.head.critical_of > 0 && <label><input type="checkbox" checked={view.critical} onChange={e => change({ critical: e.currentTarget.checked })} /> Critical path</label>}
    <button title="Mark a time in the address" onClick={() => setView(old => ({ ...old, notes: [...old.notes, noteIn(old)] }))}>Add note</button>
    <button title="Save the timeline as it is seen" onClick={() => savePicture(document.querySelector<HTMLCanvasElement>('.scroller canvas')!, document.title)}>PNG</button>
    <button title="Save the timeline as it is seen, as a drawing" onClick={() => saveDrawing(drawn.current!(), document.title)}>SVG</button>
  </div>, [model, still, all, order, whole, length])

  const legend = useMemo(() => shaded ? <ShadeLegend counter={shaded.counter} scale={shaded.scale} /> : <Legend looks={coloring.legend} search={view.search} find={view.color === 'region' ? name => change({ search: view.search === name ? '' : name, path: -1, place: -1 }) : undefined}>
    {model.head.messages_of + model.head.collectives_of > 0 && <li><label title="Of many, only as many as can be told apart are drawn."><input type="checkbox" checked={view.messages} onChange={e => change({ messages: e.currentTarget.checked })} />
      {model.head.messages_of > 0 && <Fragment> <span class="arrow">→</span> {count(model.head.messages_of)} messages</Fragment>}{model.head.collectives_of > 0 && <Fragment> <span class="late">●</span> last to come of {count(model.head.collectives_of)} collectives</Fragment>}</label></li>}
    {!view.only && all.length < model.head.rows.length && <li class="faint">{count(model.head.rows.length - all.length)} rows in which no region is entered are left out</li>}</Legend>, [model, still, shaded, coloring, all])
  const dock = useMemo(() => settled && <Dock {...{ doc, model, view: still, change, chosen, tell, choose, phases }} shown={shown}><p class="hint faint"><span class="touch">Pinch: zoom · drag: move · tap: choose a call · drag on the ruler: select a time · tap a name: its levels of calls</span><span class="pointer">Ctrl+wheel or w, s: zoom · drag or a, d: move · Back: undo a zoom · drag on the ruler or with shift: select a time, to which the tables then apply · drag on the names or W, S: choose rows · click on a name or o: its levels of calls · p: pin the row · f: fold its group · click: choose a call path {above && ` · above the rows: ${above}`}</span></p></Dock>, [settled, doc, model, still, chosen, choose, phases, shown, above])

  const parts = useMemo(() => <section>
    <div role="tablist" class="tabs">{tabs.map(([id, name], k) =>
      <button role="tab" id={`tab-${id}`} aria-selected={id === view.tab} aria-controls="panel" tabIndex={id === view.tab ? 0 : -1} onClick={() => change({ tab: id })}
        onKeyDown={e => {
          const d = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0
          if (d) { const next = tabs[(k + d + tabs.length) % tabs.length][0]; change({ tab: next }); document.getElementById(`tab-${next}`)!.focus() }
        }}>{name}</button>)}</div>
    <div role="tabpanel" id="panel" aria-labelledby={`tab-${view.tab}`}>
      {view.select && !selective.includes(view.tab) && view.tab !== 'terms' && <p class="faint">Of the whole run: the selected time does not restrict what stands here.</p>}
      {view.select && selective.includes(view.tab) && <p class="selected">From {instant(view.select[0], (view.select[1] - view.select[0]) / 100, grain(length))} to {instant(view.select[1], (view.select[1] - view.select[0]) / 100, grain(length))}{coarse && <span class="faint"> · times are those of the timeline, to the step in which it is shown</span>}</p>}
      {(settled || doc.scaling) && <Guard key={view.tab} what="part">{part}</Guard>}
    </div>
  </section>, [tabs, still, part, settled])

  return <Fragment>
    <div class="top"><Guard what="summary">{header}</Guard><div><Guard what="list of causes">{changed}{diagnosis}</Guard></div></div>
    {doc.scaling && parts /* of several sizes, how the program scales comes first */}
    <Guard what="timeline"><section aria-label="Timeline">
      <div class="tools">
        <h2 class="unseen">Timeline</h2>
        {choices}
        <Find {...{ model, view, change, order, lit, length }} />
      </div>
      {buttons}
      {runs.length > 1 && <RunLabel runs={runs} run={run} />}
      {length > 0 && <Overview model={model} from={view.from} to={view.to} show={(from, to) => change({ from, to })} bounds={[0, length]} dark={dark} />}
      {length === 0 ? <p class="faint">There is nothing to draw: the trace has no two events at different times.</p> : <TimelineView model={model} view={view} change={change} coloring={coloring} order={order} arranged={all.length} pinned={pinned} part={runs.length > 1 ? 0.35 : 0.6} lit={lit} marked={culprits} phases={phases} shaded={shaded?.lanes ?? null} dark={dark} bounds={[0, length]} tell={tell} drawn={drawn} />}
      {length > 0 && !model.head.paths.length && <p class="faint">No region is entered in this trace: there is nothing to color.</p>}
      {legend}
      <Notes view={view} change={change} />
      {length > 0 && <Counters model={model} view={view} change={change} order={order} dark={dark} shown={view.counters} />}
      {runs.length > 1 && <Companions runs={runs} run={run} models={models} alignment={alignment} view={view} change={change} dark={dark} lit={litIn} />}
      {dock}
      <p id="timeline-keys" class="unseen">w and s zoom, a and d move, W and S show fewer or more rows, up and down others. h and l read the call before and after, j and k that of the row below and above. Space chooses its path, o shows the row's levels of calls, p pins the row, f folds its group, n adds a note. Home shows all of the time, Enter selects what is shown, Escape clears.</p>
    </section></Guard>
    {!doc.scaling && parts}
    <footer class="faint">Made by tracekit from {doc.trace?.path}. Nothing on this page was loaded from anywhere.</footer>
  </Fragment>
}

const root = document.getElementById('page')!
load().then(all => { root.textContent = ''; setTerms(more(all.runs[0].doc).terms ?? []); render(<Guard what="page"><Page {...all} /></Guard>, root) },
  err => { root.textContent = `This page cannot be shown: ${err}` })
