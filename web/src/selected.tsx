// What devices, threads, phases and files do in a selected stretch of time, as far as the page's
// timeline tells.

import { h, Fragment } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Model } from './model'
import { Chosen, span, type SectionProps } from './sections'
import { Table, type Column } from './table'
import { term } from './terms'
import { time } from './units'

const of = <K extends string>(name: string, key: K, title = '', bar = false): Column<Record<K, number>> => ({ name, title, value: r => r[key], show: r => time(r[key]), bar })

type Interval = [from: number, to: number]

// covered returns how long at least one of some intervals lasts.
function covered(intervals: Interval[]): number {
  let sum = 0, until = -Infinity
  for (const [from, to] of intervals.sort((a, b) => a[0] - b[0])) {
    if (to > until) { sum += to - Math.max(from, until); until = to }
  }
  return sum
}

interface DeviceTimes { name: string; busy: number; compute: number; communication: number; memory: number; idle: number }

// deviceTimes sums what devices do from one time to another as the analysis does for the run: what
// happens at the same time counts once, as computing before communicating before copying.
function deviceTimes(model: Model, from: number, to: number): DeviceTimes[] {
  const { rows, activities, paths, regions } = model.head
  const work = activities.map(([p]) => p < 0 ? 'idle' : regions[paths[p][1]]?.on_device ?? 'compute')
  const names = new Map<string, Record<string, Interval[]>>()
  model.timeline.lanes.forEach(({ start, kind }, r) => {
    const device = rows[r].device
    if (!device) return
    const name = deviceRow(model, r), of = names.get(name) ?? { compute: [], communication: [], memory: [], idle: [] }
    names.set(name, of)
    for (let i = 0; i < kind.length && start[i] < to; i++) if (start[i + 1] > from) of[work[kind[i]]].push([Math.max(start[i], from), Math.min(start[i + 1], to)])
  })
  return [...names].map(([name, of]) => {
    const compute = covered(of.compute), both = covered([...of.compute, ...of.communication]), busy = covered([...of.compute, ...of.communication, ...of.memory])
    return { name, busy, compute, communication: both - compute, memory: busy - both, idle: to - from - busy }
  })
}

// deviceRow names the device that a row is a stream of.
function deviceRow(model: Model, r: number): string {
  const { device, rank } = model.head.rows[r]
  return rank < 0 || device!.startsWith(`rank ${rank}`) ? device! : `rank ${rank}, ${device}`
}

export function SelectedDevices(p: SectionProps) {
  const { model } = p, [from, to] = span(p)
  const devices = useMemo(() => deviceTimes(model, from, to), [model, from, to])
  const streams = useMemo(() => model.head.rows.map((_, r) => r).filter(r => model.head.rows[r].device), [model])
  return <Fragment>
    <Table caption="Devices in the selected time: times of merged intervals of all streams" sort={1} rows={devices} columns={[
      { name: 'Device', value: d => d.name }, of('Busy', 'busy', term('device'), true), of('Computing', 'compute'), of('Exposed communication', 'communication', term('exposed')),
      of('Exposed copies', 'memory', term('exposed')), of('Idle', 'idle', '', true)]} />
    <Chosen props={p} caption="What they execute in the selected time, summed over streams" first="Kernel" rows={streams} waits={false} nameOf={path => model.names[path]} />
    <p class="faint">What launched it, why devices are idle, and how long launches take to begin, the page knows of the whole run alone: clear the selection to see it.</p>
  </Fragment>
}

interface ThreadTimes { name: string; communication: number; barrier: number; waiting: number; scheduling: number; rest: number; nothing: number }

// SelectedThreads has what the regions of the timeline tell. Forking and joining are no regions.
export function SelectedThreads(p: SectionProps) {
  const { model, doc } = p, [from, to] = span(p)
  const rows = useMemo(() => {
    const { activities, regions, paths } = model.head
    const does = activities.map(([path]) => {
      if (path < 0) return 'nothing'
      const all = model.pathRegions(path).map(q => regions[paths[q][1]]?.of_thread ?? '')
      return all.includes('communication') ? 'communication' : all[all.length - 1] || 'rest' // in MPI all is MPI's
    })
    const threads = new Set((doc.threads?.rows ?? []).map((t: any) => t.rank))
    return model.head.rows.map((row, r) => r).filter(r => !model.head.rows[r].device && (!threads.size || threads.has(model.head.rows[r].rank))).map(r => {
      const sums = model.sums(from, to, [r]), t: ThreadTimes & Record<string, any> = { name: model.rowName(r), communication: 0, barrier: 0, waiting: 0, scheduling: 0, rest: 0, nothing: 0 }
      sums.forEach((v, a) => { t[does[a]] += v })
      t.nothing = to - from - t.communication - t.barrier - t.waiting - t.scheduling - t.rest
      return t as ThreadTimes
    })
  }, [model, doc, from, to])
  return <Fragment>
    <Table caption="Threads in the selected time: a row sums to it" rows={rows} first={40} columns={[
      { name: 'Thread', value: t => t.name }, of('In the program', 'rest', '', true), of('MPI', 'communication'), of('Barriers', 'barrier', term('threads beside useful time'), true),
      of('Waiting', 'waiting', term('threads beside useful time')), of('Creating', 'scheduling', term('threads beside useful time')), of('Outside all regions', 'nothing', '', true)]} />
    <p class="faint">These are the regions of the timeline. Within a selected time the page cannot tell useful time from forking, joining and having no work, which no region tells; of the whole run it can: clear the selection to see it.</p>
  </Fragment>
}

export function SelectedFiles(p: SectionProps) {
  const { model } = p, { paths, regions } = model.head
  return <Fragment>
    <Chosen props={p} caption="Calls on files in the selected time" first="Operation" waits={false} nameOf={path => regions[paths[path][1]]?.on_file ? model.names[path] : null} />
    <p class="faint">Which files they are, how many calls and how many bytes, the page knows of the whole run alone: clear the selection to see it.</p>
  </Fragment>
}
