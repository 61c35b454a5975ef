import { h, render, Fragment } from 'preact'
import { answerTo, pinsOf, ranksOf, windowOf } from './answer'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { load, type Document } from './data'
import { Model, type ColorBy } from './model'
import { fromHash, initial, toHash, type View } from './view'
import { TimelineView } from './timelineview'
import { CallTree } from './calltree'
import { deviceName, place } from './described'
import { Findings, Profile, Waits, type SectionProps } from './sections'
import { Communication } from './communication'
import { Counters, ShadeLegend, byRow, useShades } from './counterview'
import { Find } from './find'
import { Legend } from './legend'
import { Lines } from './lines'
import { more, type More } from './more'
import { noteIn, Notes, savePicture } from './notes'
import { Overview } from './overview'
import { paint } from './paint'
import { useDark } from './dark'
import { phasesOf } from './phasemarks'
import { Comparison, WhatChanged, comparisonOf } from './comparison'
import { arranged, banded, kindsOf } from './rows'
import { Companions, RunChoice, RunLabel, extent, otherOf, runName, useAlignment, type Run } from './runs'
import { Scaling } from './scaling'
import { Source } from './source'
import { setTerms, term, Terms } from './terms'
import { Devices, Files, Phases, Threads } from './parts'
import { brief, bytes, count, grain, instant, share, time, unbroken } from './units'

type Tab = [id: string, name: string, part: (p: SectionProps) => any, there?: (doc: Document) => unknown]

const allTabs: Tab[] = [
  ['compare', 'Comparison', Comparison, d => d.comparison], ['scaling', 'Scaling', Scaling, d => d.scaling],
  ['calls', 'Call tree', CallTree], ['lines', 'Source lines', Lines, d => d.lines?.length], ['source', 'Source', Source, d => more(d).sought], ['waits', 'Waits and causes', Waits, d => d.efficiency || d.threads],
  ['communication', 'Communication', Communication, d => d.messages?.count > 0 || d.collectives?.length], ['devices', 'Devices', Devices, d => d.devices?.length], ['threads', 'Threads', Threads, d => d.threads],
  ['phases', 'Phases', Phases, d => d.phases], ['files', 'Files', Files, d => d.file_io], ['profile', 'Profile', Profile], ['findings', 'Trace and findings', Findings], ['terms', 'Terms', Terms],
]

// What a selected stretch of time restricts.
const selective = ['calls', 'lines', 'source', 'waits', 'communication', 'devices', 'threads', 'phases', 'files', 'profile']

const none: number[] = []

// Page chooses one of several runs for the App.
function Page({ runs, comparisons, scaling }: { runs: Run[]; comparisons: (Document | null)[]; scaling: Document | null }) {
  const models = useMemo(() => runs.map(r => new Model(r.timeline, r.address)), [runs])
  const asked = (address: string) => Math.min(fromHash(new URL(address).hash, initial([0, 1]), 1).run, runs.length - 1)
  const [run, setRun] = useState(() => asked(location.href))
  useEffect(() => {
    const back = (e: HashChangeEvent) => setRun(asked(e.newURL)) // the page may have written its own since
    addEventListener('hashchange', back)
    return () => removeEventListener('hashchange', back)
  }, [])
  const doc = useMemo(() => ({ ...runs[run].doc, comparison: comparisonOf(comparisons, run), scaling }), [runs, run])
  return <App key={run} doc={doc} runs={runs} models={models} run={run} />
}

function App({ doc, runs, models, run }: { doc: Document; runs: Run[]; models: Model[]; run: number }) {
  const model = models[run], dark = useDark()
  useLayoutEffect(() => paint(model.head.palette, dark), [model, dark])
  const furthest = runs.reduce((s, r) => s + r.timeline.head.length_ns, 0)
  const begin = useMemo(() => ({ ...initial(runs.length > 1 ? [0, Math.max(...runs.map(r => r.timeline.head.length_ns))] : model.body()), tab: doc.scaling ? 'scaling' : 'calls' }), [model])
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
  useEffect(() => {
    const back = (e: HashChangeEvent) => setView(fromHash(new URL(e.newURL).hash, begin, furthest))
    addEventListener('hashchange', back)
    return () => removeEventListener('hashchange', back)
  }, [])

  const shaded = useShades(model, view), phases = useMemo(() => phasesOf(doc), [doc])
  const all = useMemo(() => arranged(model, view, shaded !== null), [model, view.sort, view.only, view.fold, view.but, shaded !== null])
  const order = useMemo(() => banded(all, view.band), [all, view.band])
  const coloring = useMemo(() => model.coloring(view.color, dark), [model, view.color, dark])
  const coarse = model.head.rows.some(r => r.step_ns > 1)
  const counters = useMemo(() => [...new Set([model, ...models].flatMap(m => m.head.counters.map(c => c.name)))], [model, models])
  const ofKind = useMemo(() => kindsOf(model, arranged(model, { ...begin, only: '' }, shaded !== null)), [model, shaded !== null])
  const cause = (doc.diagnosis ?? [])[view.place]
  const answer = useMemo(() => cause ? answerTo(model, doc, cause) : null, [model, doc, cause])
  const instance = answer?.instances[Math.min(view.instance, answer.instances.length - 1)]
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
  const header = useMemo(() => <Header doc={doc} length={model.head.length_ns} runs={runs} run={run} />, [doc, model])
  // A chosen cause shows where it is worst, and its call path below. One that is nowhere in the timeline moves nothing.
  const choose = useCallback((place: number) => setView(old => {
    const chosen = (doc.diagnosis ?? [])[place], found = chosen && answerTo(model, doc, chosen), worst = found?.instances[0]
    const [from, to] = worst ? windowOf(model, worst) : [old.from, old.to]
    return { ...old, place, instance: 0, path: found ? found.path : -1, from, to, ...chosen && { search: '' }, ...found && { tab: 'calls', metric: '' } }
  }), [doc, model])
  const step = (way: 1 | -1) => {
    const n = answer!.instances.length, k = (view.instance + way + n) % n, [from, to] = windowOf(model, answer!.instances[k])
    change({ instance: k, from, to })
  }
  const diagnosis = useMemo(() => <Diagnosis doc={doc} view={still} change={change} choose={choose} />, [doc, still, choose])
  const changed = useMemo(() => <WhatChanged doc={doc} model={model} view={still} change={change} answer={null} culprits={none} coloring={coloring} other={other} />, [doc, model, still, coloring, other])
  const part = useMemo(() => <Part doc={doc} model={model} view={still} change={change} answer={told} culprits={culprits} coloring={coloring} other={other} />, [Part, doc, model, still, told, culprits, coloring, other])

  const parts = <section>
    <div role="tablist" class="tabs">{tabs.map(([id, name], k) =>
      <button role="tab" id={`tab-${id}`} aria-selected={id === view.tab} aria-controls="panel" tabIndex={id === view.tab ? 0 : -1} onClick={() => change({ tab: id })}
        onKeyDown={e => {
          const d = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0
          if (d) { const next = tabs[(k + d + tabs.length) % tabs.length][0]; change({ tab: next }); document.getElementById(`tab-${next}`)!.focus() }
        }}>{name}</button>)}</div>
    <div role="tabpanel" id="panel" aria-labelledby={`tab-${view.tab}`}>
      {view.select && !selective.includes(view.tab) && view.tab !== 'terms' && <p class="faint">Of the whole run: the selected time does not restrict what stands here.</p>}
      {view.select && selective.includes(view.tab) && <p class="selected">From {instant(view.select[0], (view.select[1] - view.select[0]) / 100, grain(length))} to {instant(view.select[1], (view.select[1] - view.select[0]) / 100, grain(length))}{coarse && <span class="faint"> · times are those of the timeline, to the step in which it is shown</span>}</p>}
      {part}
    </div>
  </section>

  return <Fragment>
    <div class="top">{header}{runs.length === 1 && diagnosis}</div>
    {runs.length > 1 && <RunChoice runs={runs} run={run} models={models} alignment={alignment} view={view} change={change} />}
    {doc.scaling && parts /* of several sizes, how the program scales comes first */}
    {changed}
    {runs.length > 1 && diagnosis}
    <section aria-label="Timeline">
      <div class="tools">
        <h2>Timeline</h2>
        <label>Colors <select value={view.color} onChange={e => change({ color: e.currentTarget.value as ColorBy })}>
          <option value="region">by region</option><option value="class">by class</option><option value="wait">by wait state</option>
          {model.head.counters.map((c, k) => byRow(model, k) && <option value={`counter:${c.name}`}>by {c.name}</option>)}</select></label>
        <label>Rows <select value={view.sort} onChange={e => change({ sort: e.currentTarget.value as View['sort'] })}>
          <option value="rank">by rank</option><option value="name">by name</option><option value="wait">most waiting first</option><option value="busy">least waiting first</option></select>
          {ofKind.length > 1 && <select aria-label="Kind of rows" value={view.only} onChange={e => change({ only: e.currentTarget.value as View['only'], band: null })}>
            <option value="">all</option>{ofKind.map(k => <option value={k}>{k}</option>)}</select>}</label>
        {model.head.critical_of > 0 && <label><input type="checkbox" checked={view.critical} onChange={e => change({ critical: e.currentTarget.checked })} /> Critical path</label>}
        {counters.length > 0 && <label>Counters <select value="" onChange={e => { change({ counters: [...view.counters, { name: e.currentTarget.value, rows: false }] }); e.currentTarget.value = '' }}>
          <option value="">show …</option>{counters.filter(c => !view.counters.some(s => s.name === c)).map(c => <option value={c}>{c}</option>)}</select></label>}
        <Find {...{ model, view, change, order, lit, length }} />
      </div>
      <div class="tools keys">{/* always all of them, so that nothing moves under the pointer */}
        <button disabled={view.from <= 0 && view.to >= length} onClick={() => change({ from: 0, to: length })}>Whole run</button>
        <button disabled={order.length === all.length} onClick={() => change({ band: null })}>All {count(all.length)} rows</button>
        <button disabled={!view.select} onClick={() => change({ from: view.select![0], to: view.select![1] })}>Zoom to selection</button>
        <button disabled={!view.select} onClick={() => change({ select: null })}>Clear selection</button>
        {ofKind.length > 1 && <button aria-pressed={view.fold} title="One row for each process; f opens or closes one" onClick={() => change({ fold: !view.fold, but: [], band: null })}>Fold processes</button>}
        <button disabled={!view.pins.length} onClick={() => change({ pins: [] })}>Unpin rows</button>
        <button title="Mark a time in the address" onClick={() => change({ notes: [...view.notes, noteIn(view)] })}>Add note</button>
        <button title="Save the timeline as it is seen" onClick={() => savePicture(document.querySelector<HTMLCanvasElement>('.timeline canvas')!, document.title)}>PNG</button>
      </div>
      {runs.length > 1 && <RunLabel runs={runs} run={run} />}
      {answer && <p class="answer" role="status"><b>{culprits.map(r => model.rowName(r)).join(', ')}</b>{answer.named && answer.culprits.length > culprits.length && ` and ${count(answer.culprits.length - culprits.length)} more`}
        {victims.length > 0 && <Fragment> · {answer.idle ? 'idle' : 'waiting'}: {victims.map(r => model.rowName(r)).join(', ')}</Fragment>}
        {instance && <span class="keys"><button aria-label="Instance before" onClick={() => step(-1)}>◂</button> {count(answer.instances.indexOf(instance) + 1)} of {count(answer.instances.length)}: {time(instance.to - instance.from)} <button aria-label="Next instance" onClick={() => step(1)}>▸</button></span>}
        <button onClick={() => choose(-1)}>Clear</button></p>}
      {cause && !answer && <p class="answer faint" role="status">This cause has no place in the timeline.</p>}
      {length > 0 && <Overview model={model} from={view.from} to={view.to} show={(from, to) => change({ from, to })} bounds={[0, length]} />}
      {length === 0 ? <p class="faint">There is nothing to draw: the trace has no two events at different times.</p> : <TimelineView model={model} view={view} change={change} coloring={coloring} order={order} arranged={all.length} pinned={pinned} part={runs.length > 1 ? 0.35 : 0.6} lit={lit} marked={culprits} phases={phases} shaded={shaded?.lanes ?? null} dark={dark} bounds={[0, length]} />}
      {length > 0 && !model.head.paths.length && <p class="faint">No region is entered in this trace: there is nothing to color.</p>}
      {shaded ? <ShadeLegend counter={shaded.counter} scale={shaded.scale} /> : <Legend looks={coloring.legend} search={view.search} find={view.color === 'region' ? name => change({ search: view.search === name ? '' : name, path: -1, place: -1 }) : undefined}>
        {model.head.messages_of + model.head.collectives_of > 0 && <li><label title="Of many, only as many as can be told apart are drawn."><input type="checkbox" checked={view.messages} onChange={e => change({ messages: e.currentTarget.checked })} />
          {model.head.messages_of > 0 && <Fragment> <span class="arrow">→</span> {count(model.head.messages_of)} messages</Fragment>}{model.head.collectives_of > 0 && <Fragment> <span class="late">●</span> last to come of {count(model.head.collectives_of)} collectives</Fragment>}</label></li>}
        {!view.only && all.length < model.head.rows.length && <li class="faint">{count(model.head.rows.length - all.length)} rows in which no region is entered are left out</li>}</Legend>}
      <Notes view={view} change={change} />
      {length > 0 && <Counters model={model} view={view} change={change} order={order} dark={dark} shown={view.counters} />}
      {runs.length > 1 && <Companions runs={runs} run={run} models={models} alignment={alignment} view={view} change={change} dark={dark} lit={litIn} />}
      <p id="timeline-keys" class="unseen">w and s zoom, a and d move, W and S show fewer or more rows, up and down others. h and l read the call before and after, j and k that of the row below and above. Space chooses its path, o shows the row's levels of calls, p pins the row, f folds its process, n adds a note. Home shows all of the time, Enter selects what is shown, Escape clears.</p>
      <p class="hint faint">Ctrl+wheel or w, s: zoom · drag or a, d: move · Back: undo a zoom · drag on the ruler or with shift: select a time, to which the tables then apply · drag on the names or W, S: choose rows · click on a name or o: its levels of calls · p: pin the row · click: choose a call path {above && ` · above the rows: ${above}`}</p>
    </section>
    {!doc.scaling && parts}
    <footer class="faint">Made by tracekit from {doc.trace?.path}. Nothing on this page was loaded from anywhere.</footer>
  </Fragment>
}

function Header({ doc, length, runs, run }: { doc: Document; length: number; runs: Run[]; run: number }) {
  const e = doc.efficiency, findings: any[] = doc.findings ?? [], lost = findings.filter(f => f.severity !== 'info')
  const tiles: [string, string, string?][] = [['run time', time(length), term('run time')], [doc.trace?.processes === 1 ? 'process' : 'processes', count(doc.trace?.processes)]]
  const devices: any[] = doc.devices ?? [], busy = (of: any[]) => share(length > 0 ? of.reduce((s, d) => s + d.busy_ns, 0) / of.length / length : null)
  if (devices.length > 2) tiles.push([`${count(devices.length)} devices busy, mean`, busy(devices), term('device')])
  else for (const d of devices) tiles.push([`${deviceName(d)} busy`, busy([d]), term('device')])
  const f = doc.file_io
  if (f) tiles.push(['in calls on files', share(length > 0 ? f.time_ns / (length * Math.max(doc.trace?.processes, 1)) : null), term('sum over ranks')])
  if (f?.read_bytes > 0) tiles.push(['read', bytes(f.read_bytes)])
  if (f?.write_bytes > 0) tiles.push(['written', bytes(f.write_bytes)])
  const t = doc.threads?.efficiency
  if (t) tiles.push(['efficiency of all threads', share(t.parallel), term('useful time of threads')])
  const r = e?.without_init_finalize ?? e // without startup
  if (r) tiles.push([t ? 'efficiency of processes' : 'parallel efficiency', share(r.parallel_efficiency), term('parallel efficiency')], ['load balance', share(r.load_balance), term('load balance')], ['communication efficiency', share(r.communication_efficiency), term('communication')])
  return <header>
    <h1>{runs.length > 1 ? runs.map((_, k) => runName(runs, k)).join(', ') : title(doc)}</h1>
    {runs.length > 1 && <RunLabel runs={runs} run={run} />}
    {doc.trace?.rebuilt && <p class="warning">This trace was rebuilt from statistics{doc.trace.rebuilt.from && ` (${doc.trace.rebuilt.from})`}; single times are modelled, not recorded.</p>}
    {doc.selection && <p class="warning">The figures are of a part of the run, from {time(doc.selection.from_ns - doc.trace.start_ns)} to {time(doc.selection.to_ns - doc.trace.start_ns)}{doc.selection.ranks.length > 0 && `, of ${count(doc.selection.ranks.length)} ranks`}; timeline and call tree are of all of it.</p>}
    {more(doc).doubts && <p class="warning">{more(doc).doubts!.join(' ')}</p>}
    {(lost.length > 0 || !more(doc).doubts) && <p class={lost.length ? 'warning' : 'sound'}>{lost.length ? `The trace is not whole: ${lost.map(f => f.text).slice(0, 3).join('; ')}${lost.length > 3 ? ' …' : ''}` : 'The trace is sound.'}</p>}
    {more(doc).splits?.map(x => <Split {...x} />)}
    <ul class="tiles">{tiles.map(([name, v, t]) => <li title={t}><b>{v}</b>{name}</li>)}</ul>
  </header>
}

// Split shows how a time is spent: a bar, and what its colors are.
function Split({ title, about, parts }: NonNullable<More['splits']>[number]) {
  const shown = parts.filter(p => p.share >= 0.001)
  return <figure class="split">
    <figcaption><b>{title}</b> <span class="faint">{about}</span></figcaption>
    <div class="stack-bar" role="img" aria-label={shown.map(p => `${p.label} ${share(p.share)}`).join(', ')}>
      {shown.map(p => <span class={`kind-${p.kind}`} style={{ flexGrow: p.share }} title={`${p.label}: ${share(p.share)}`} />)}</div>
    <ul class="legend">{shown.map(p => <li><span class={`swatch kind-${p.kind}`} />{p.label} <b>{share(p.share)}</b></li>)}</ul>
  </figure>
}

function title(doc: Document): string {
  const parts = String(doc.trace?.path ?? 'Trace').split('/').filter(Boolean)
  const last = parts.pop() ?? 'Trace'
  return last === 'traces.otf2' && parts.length ? parts.pop()! : last
}

// first is how many causes are shown at first, so that the timeline is in sight (page.css hides the others).
const first = 3

// Diagnosis comes first: the causes, each with what mending it would gain.
function Diagnosis({ doc, view, change, choose }: { doc: Document; view: View; change: (v: Partial<View>) => void; choose: (cause: number) => void }) {
  const causes: any[] | undefined = doc.diagnosis
  const [all, setAll] = useState(false)
  const sentences = unbroken((more(doc).unclassified ?? []).join(' ')).split(/(?<=\.) (?=[A-Z])/)
  const startup = more(doc).startup ?? [] // stands last
  const order = (causes ?? []).map((_, k) => k).sort((a, b) => Number(startup.includes(a)) - Number(startup.includes(b)) || a - b)
  if (!causes) return <section aria-label="Diagnosis">
    <h2>What to fix</h2>
    <p>Causes are sought where ranks wait for each other, threads work together, or devices are launched: this trace has none of these.{doc.file_io && <Fragment> What calls on files take stands in <button onClick={() => change({ tab: 'files' })}>Files</button>.</Fragment>}</p>
  </section>
  return <section aria-label="Diagnosis">
    <h2>What to fix</h2>
    {causes.length === 0 && <p>Nothing worth fixing was found: no single change would make the run shorter by much.</p>}
    <ol class={all || order.indexOf(view.place) >= first ? 'causes' : 'causes begun'}>{order.map(k => <Cause c={causes[k]} open={view.place < 0 ? k === order[0] : view.place === k} pressed={view.place === k} startup={startup.includes(k)} choose={() => choose(view.place === k ? -1 : k)} />)}</ol>
    {causes.length > first && order.indexOf(view.place) < first && <button class="more" aria-expanded={all} onClick={() => setAll(!all)}>{all ? 'Fewer' : `${causes.length - first} more ${causes.length - first === 1 ? 'cause' : 'causes'}`}</button>}
    {causes.length > 1 && <p class="faint">Savings overlap: do not add them.</p>}
    {more(doc).unclassified && <details class="faint"><summary>{sentences[0]}</summary>{sentences.slice(1).join(' ')}</details>}
  </section>
}

// Cause is one line, and what shows it where it is open.
function Cause({ c, open, pressed, startup, choose }: { c: any; open: boolean; pressed: boolean; startup: boolean; choose: () => void }) {
  return <li class={startup ? 'faint' : ''}><button aria-pressed={pressed} onClick={choose}>
    <span class="gain" title={`${term('gain')} ${c.change}`}>{c.gain_share == null ? '?' : share(c.gain_share)}<small>{c.gain_ns == null ? 'unknown' : `−${time(c.gain_ns)}`}</small></span>
    <span class="text"><b>{brief(c.headline)}</b>{open && <Fragment><br />{unbroken(brief(c.text))} {unbroken(c.change)}{c.try && <Fragment><br /><span class="try">Try: {c.try}</span></Fragment>}</Fragment>}</span>
  </button></li>
}

const root = document.getElementById('page')!
load().then(all => { root.textContent = ''; setTerms(more(all.runs[0].doc).terms ?? []); render(<Page {...all} />, root) },
  err => { root.textContent = `This page cannot be shown: ${err}` })
