// What devices, threads, phases and files do in a selected stretch of time, as far as the page's
// timeline tells.

import { h, Fragment } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Model } from './model'
import { deviceName, Described } from './described'
import { span, useSums, type SectionProps } from './sections'

type Interval = [from: number, to: number]

// covered returns how long at least one of some intervals lasts.
function covered(intervals: Interval[]): number {
  let sum = 0, until = -Infinity
  for (const [from, to] of intervals.sort((a, b) => a[0] - b[0])) {
    if (to > until) { sum += to - Math.max(from, until); until = to }
  }
  return sum
}

// deviceTimes sums what devices do from one time to another as the analysis does for the run: what
// happens at the same time counts once, as computing before communicating before copying.
function deviceTimes(model: Model, from: number, to: number): any[] {
  const { rows, activities, paths, regions } = model.head
  const work = activities.map(([p]) => p < 0 ? 'idle' : regions[paths[p][1]]?.on_device ?? 'compute')
  const names = new Map<string, Record<string, Interval[]>>()
  model.timeline.lanes.forEach(({ start, kind }, r) => {
    const device = rows[r].device
    if (!device) return
    const name = deviceName({ rank: rows[r].rank, device }), of = names.get(name) ?? { compute: [], communication: [], memory: [], idle: [] }
    names.set(name, of)
    for (let i = 0; i < kind.length && start[i] < to; i++) if (start[i + 1] > from) of[work[kind[i]]].push([Math.max(start[i], from), Math.min(start[i + 1], to)])
  })
  return [...names].map(([name, of]) => {
    const compute = covered(of.compute), both = covered([...of.compute, ...of.communication]), busy = covered([...of.compute, ...of.communication, ...of.memory])
    return { device: name, span_ns: to - from, busy_ns: busy, compute_ns: compute, exposed_communication_ns: both - compute, exposed_memory_ns: busy - both, idle_ns: to - from - busy }
  })
}

export function SelectedDevices(p: SectionProps) {
  const { model } = p, [from, to] = span(p)
  const devices = useMemo(() => deviceTimes(model, from, to), [model, from, to])
  const streams = useMemo(() => model.head.rows.map((_, r) => r).filter(r => model.head.rows[r].device), [model])
  const kernels = useSums(p, 'name', 'time_ns', path => model.names[path], streams)
  return <Fragment>
    <Described doc={p.doc} table="devices" selected sort="busy_ns" rows={devices} />
    <Described doc={p.doc} table="kernels" selected rows={kernels} />
    <p class="faint">What launched it, why devices are idle, and how long launches take to begin, the page knows of the whole run alone: clear the selection to see it.</p>
  </Fragment>
}

// SelectedThreads has what the regions of the timeline tell. Forking and joining are no regions.
export function SelectedThreads(p: SectionProps) {
  const { model, doc } = p, [from, to] = span(p)
  const rows = useMemo(() => {
    const { activities, regions, paths } = model.head
    const does = activities.map(([path]) => {
      if (path < 0) return 'outside_ns'
      const all = model.pathRegions(path).map(q => regions[paths[q][1]]?.of_thread ?? '')
      return all.includes('communication') ? 'communication_ns' : `${all[all.length - 1] || 'program'}_ns` // in MPI all is MPI's
    })
    const threads = new Set((doc.threads?.rows ?? []).map((t: any) => t.rank))
    return model.head.rows.map((_, r) => r).filter(r => !model.head.rows[r].device && (!threads.size || threads.has(model.head.rows[r].rank))).map(r => {
      const sums = model.sums(from, to, [r]), t: Record<string, any> = { row: model.rowName(r), communication_ns: 0, barrier_ns: 0, waiting_ns: 0, scheduling_ns: 0, program_ns: 0, outside_ns: 0 }
      sums.forEach((v, a) => { t[does[a]] += v })
      t.outside_ns = to - from - t.communication_ns - t.barrier_ns - t.waiting_ns - t.scheduling_ns - t.program_ns
      return t
    })
  }, [model, doc, from, to])
  return <Fragment>
    <Described doc={doc} table="threads" selected sort="" rows={rows} first={40} />
    <p class="faint">These are the regions of the timeline. Within a selected time the page cannot tell useful time from forking, joining and having no work, which no region tells; of the whole run it can: clear the selection to see it.</p>
  </Fragment>
}

export function SelectedFiles(p: SectionProps) {
  const { model } = p, { paths, regions } = model.head
  return <Fragment>
    <Described doc={p.doc} table="operations" selected rows={useSums(p, 'operation', 'time_ns', path => regions[paths[path][1]]?.on_file ? model.names[path] : null)} />
    <p class="faint">Which files they are, how many calls and how many bytes, the page knows of the whole run alone: clear the selection to see it.</p>
  </Fragment>
}
