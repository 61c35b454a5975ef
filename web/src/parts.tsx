// What only some traces have: devices, threads, phases, files.

import { h, Fragment } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { span, type SectionProps } from './sections'
import { SelectedDevices, SelectedFiles, SelectedThreads } from './selected'
import { Table, type Column } from './table'
import { term } from './terms'
import { bytes, count, grain, instant, share, time } from './units'

const ns = (name: string, key: string, title = '', bar = false): Column<any> => ({ name, title, value: r => r[key], show: r => time(r[key]), bar })
const of = (name: string, key: string, title = ''): Column<any> => ({ name, title, value: r => r[key], show: r => share(r[key]) })
const text = (name: string, value: (r: any) => string | number | null): Column<any> => ({ name, value })
const number = (name: string, key: string): Column<any> => ({ name, value: r => r[key], show: r => count(r[key]) })

// deviceName names a device and its rank, which some traces have in the device's name already.
export function deviceName(d: any): string {
  const rank = `rank ${d.rank}`
  return /^rank \d+\b/.exec(d.device)?.[0] === rank ? d.device : `${rank}, ${d.device}`
}

export function Devices(p: SectionProps) { return p.view.select ? <SelectedDevices {...p} /> : <AllDevices {...p} /> }

// A Kernel is what devices execute under one name, with what each of them does.
interface Kernel { name: string; kind: string; count: number; time_ns: number; mean_ns: number; max_ns: number; from: string | null; devices: any[] }

function kernelsOf(devices: any[]): Kernel[] {
  const byName = new Map<string, Kernel>()
  for (const d of devices) for (const k of d.kernels ?? []) {
    const key = `${k.kind} ${k.name}`, from = k.launched_from?.[0]?.operator ?? k.launched_from?.[0]?.call ?? null
    if (!byName.has(key)) byName.set(key, { name: k.name, kind: k.kind, count: 0, time_ns: 0, mean_ns: 0, max_ns: 0, from, devices: [] })
    const sum = byName.get(key)!
    sum.count += k.count
    sum.time_ns += k.time_ns
    sum.mean_ns = sum.time_ns / Math.max(sum.count, 1)
    sum.max_ns = Math.max(sum.max_ns, k.max_ns)
    sum.devices.push({ ...k, on: deviceName(d) })
  }
  return [...byName.values()]
}

// folded shows the beginning of a name, which may fill the page.
const folded = (name: string) => <span class="folded" title={name}>{name}</span>

function Kernels({ devices }: { devices: any[] }) {
  const kernels = useMemo(() => kernelsOf(devices), [devices])
  const [chosen, choose] = useState('')
  const key = (k: Kernel) => `${k.kind} ${k.name}`
  return <Table caption={`What they execute: sums of single executions${devices.length > 1 ? ' over all devices; choose one to see what each device does' : ''}`} sort={3} rows={kernels}
    chosen={k => key(k) === chosen} choose={devices.length > 1 ? k => choose(key(k) === chosen ? '' : key(k)) : undefined}
    detail={k => <Table caption={k.name} sort={2} rows={k.devices} columns={[text('Device', d => d.on), number('Number', 'count'), ns('Time', 'time_ns', '', true), ns('Mean', 'mean_ns'), ns('Most', 'max_ns')]} />}
    columns={[{ name: 'Kernel', value: k => k.name, show: k => folded(k.name) }, text('Kind', k => k.kind), number('Number', 'count'), ns('Time', 'time_ns', '', true), ns('Mean', 'mean_ns'), ns('Most', 'max_ns'),
      ...devices.length > 1 ? [{ name: 'Devices', value: (k: Kernel) => k.devices.length, show: (k: Kernel) => count(k.devices.length) }] : [], { name: 'Launched from', value: k => k.from, show: k => folded(k.from ?? '–') }]} />
}

function AllDevices({ doc }: SectionProps) {
  const devices: any[] = doc.devices ?? []
  return <Fragment>
    <Table caption="Devices: times of merged intervals of all streams" sort={1} rows={devices} columns={[
      text('Device', deviceName), ns('Span', 'span_ns', term('span of a device')), ns('Busy', 'busy_ns', term('device'), true), ns('Computing', 'compute_ns'),
      ns('Exposed communication', 'exposed_communication_ns', term('exposed')), ns('Exposed copies', 'exposed_memory_ns', term('exposed')), ns('Idle', 'idle_ns', '', true),
      { name: 'Host-bound', title: term('host-bound'), value: d => d.idle_causes?.host_bound_ns, show: d => time(d.idle_causes?.host_bound_ns) },
      { name: 'Gaps', title: term('queued'), value: d => d.idle_causes?.kernel_gaps_ns, show: d => time(d.idle_causes?.kernel_gaps_ns) }]} />
    <Kernels devices={devices} />
    <Table caption="What devices idle before, by what launches it" sort={3} rows={devices.flatMap(d => (d.idle_before ?? []).map((x: any) => ({ ...x, on: deviceName(d) })))} columns={[
      text('Operator', x => x.operator ?? (x.call ? '' : '(launch not recorded)')), text('Call', x => x.call), text('Device', x => x.on), ns('Idle', 'time_ns', '', true), number('Times', 'count'),
      ns('Host-bound', 'host_bound_ns', term('host-bound')), ns('Gaps', 'kernel_gaps_ns', term('queued'))]} />
    <Table caption="From launch to begin" sort={4} rows={devices.filter(d => d.launches?.delay_ns).map(d => ({ ...d.launches.delay_ns, ...d.launches, on: deviceName(d) }))} columns={[
      text('Device', l => l.on), number('Kernels', 'count'), ns('Least', 'min'), ns('Median', 'p50'), ns('Mean', 'mean', '', true), ns('90 %', 'p90'), ns('99 %', 'p99'), ns('Most', 'max'),
      { name: 'Queue', title: term('queued'), value: l => l.queue_mean, show: l => l.queue_mean?.toPrecision(3) ?? '' }]} />
    <Table caption="Streams: times of merged intervals" sort={2} rows={devices.flatMap(d => (d.streams ?? []).map((s: any) => ({ ...s, on: deviceName(d) })))} columns={[
      text('Stream', s => s.stream), text('Device', s => s.on), ns('Busy', 'busy_ns', '', true), number('Executes', 'count'), ns('Computing', 'compute_ns'), ns('Communicating', 'communication_ns'), ns('Copying', 'memory_ns')]} />
    <Table caption="Critical path through hosts and devices" sort={2} rows={doc.device_path?.rows ?? []} columns={[
      text('Kind', r => r.kind), text('Kernel or function', r => r.name), ns('Time', 'time_ns', '', true), of('Share', 'share'), number('Number', 'count')]} />
  </Fragment>
}

export function Threads(p: SectionProps) { return p.view.select ? <SelectedThreads {...p} /> : <AllThreads {...p} /> }

function AllThreads({ doc }: SectionProps) {
  const t = doc.threads, e = t.efficiency ?? {}
  return <Fragment>
    <p>Parallel efficiency of {count(t.threads)} threads {share(e.parallel)}: processes {share(e.process)} × threads {share(e.thread)}; inside parallel regions {share(e.region)}, serial parts {share(e.serial)}; idle threads outside them {time(t.idle_ns)}.</p>
    <Table caption="Threads: a row sums to the run time" rows={t.rows ?? []} first={40} columns={[
      text('Thread', r => `rank ${r.rank}, ${r.name || `thread ${r.thread}`}`), ns('Useful', 'useful_ns', term('useful time of threads'), true), ns('MPI', 'communication_ns'), ns('Barriers', 'barrier_ns', term('threads beside useful time'), true), ns('Waiting', 'waiting_ns', term('threads beside useful time')),
      ns('Fork, join', 'scheduling_ns', term('threads beside useful time')), ns('No work', 'idle_ns', term('threads beside useful time'), true)]} />
  </Fragment>
}

export function Phases(props: SectionProps) {
  const { doc, change, model, view } = props
  const p = doc.phases, start = doc.trace.start_ns, [from, to] = span(props)
  const rows: any[] = useMemo(() => (p.rows ?? []).filter((r: any) => !view.select || r.from_ns - start < to && r.to_ns - start > from), [p, view.select])
  const begin = (r: any) => instant(r.from_ns - start, Math.max((p.period_ns?.min ?? 0) / 10, 1), grain(model.head.length_ns))
  return <Fragment>
    <p>{count(p.count)} phases, from {p.operation ?? p.region ?? 'a call'} to its next; they take {time(p.period_ns?.min)} at least, {time(p.period_ns?.p50)} in the middle, {time(p.period_ns?.max)} at most; {count(p.outliers)} {p.outliers === 1 ? 'is' : 'are'} unlike the others. Choose one to see it in the timeline.</p>
    <Table caption={view.select ? 'Phases of which a part is selected, each as a whole' : 'Phases'} rows={rows} choose={r => {
      const from = Math.max(r.from_ns - start, 0), to = Math.min(r.to_ns - start, model.head.length_ns)
      if (to > from) change({ from, to })
    }} columns={[number('Phase', 'phase'), { name: 'Begin', value: r => r.from_ns, show: begin }, ns('Length', 'duration_ns', '', true),
      of('Parallel efficiency', 'parallel_efficiency', term('parallel efficiency')), of('Load balance', 'load_balance', term('load balance')), of('Communication', 'communication_efficiency', term('communication')), text('', r => r.outlier ? 'unlike the others' : '')]} />
  </Fragment>
}

export function Files(p: SectionProps) { return p.view.select ? <SelectedFiles {...p} /> : <AllFiles {...p} /> }

function AllFiles({ doc }: SectionProps) {
  const f = doc.file_io
  return <Fragment>
    <p>{count(f.calls)} calls on files take {time(f.time_ns)} over all locations; {bytes(f.read_bytes)} are read, {bytes(f.write_bytes)} written.</p>
    <Table caption="Operations" sort={3} rows={f.operations ?? []} columns={[text('Operation', r => r.operation), text('Kind', r => r.kind), number('Calls', 'calls'), ns('Time', 'time_ns', '', true), ns('Mean', 'mean_ns'), ns('Most', 'max_ns'),
      { name: 'Bytes', value: r => r.bytes, show: r => bytes(r.bytes) }, { name: 'Bytes a second', value: r => r.bytes_per_s, show: r => bytes(r.bytes_per_s) }]} />
    <Table caption="Files" sort={3} rows={f.files ?? []} columns={[text('File', r => r.file), number('Ranks', 'ranks'), number('Calls', 'calls'), ns('Time', 'time_ns', '', true),
      { name: 'Read', value: r => r.read_bytes, show: r => bytes(r.read_bytes) }, { name: 'Written', value: r => r.write_bytes, show: r => bytes(r.write_bytes) }]} />
    <Table caption="Sizes of accesses" rows={f.sizes ?? []} columns={[text('Kind', r => r.kind), { name: 'Size', value: r => r.from, show: r => `${bytes(r.from)} to ${bytes(r.to)}` }, number('Calls', 'calls'), ns('Time', 'time_ns')]} />
  </Fragment>
}
