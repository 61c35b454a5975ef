// What only some traces have: devices, threads, phases, files.

import { h, Fragment } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { Described, Tables } from './described'
import { span, type SectionProps } from './sections'
import { SelectedDevices, SelectedFiles, SelectedThreads } from './selected'
import { bytes, count, share, time } from './units'

export function Devices(p: SectionProps) { return p.view.select ? <SelectedDevices {...p} /> : <AllDevices {...p} /> }

// AllDevices shows behind a kernel what each device does of it.
function AllDevices({ doc }: SectionProps) {
  const [chosen, choose] = useState('')
  const key = (k: any) => `${k.kind} ${k.name}`
  const each = (k: any) => doc.devices.flatMap((d: any) => (d.kernels ?? []).filter((x: any) => key(x) === key(k)).map((x: any) => ({ ...x, device: d.device, rank: d.rank })))
  return <Tables doc={doc} tab="devices" uses={doc.devices.length < 2 ? {} : { kernels: {
    caption: ': choose one to see what each device does', chosen: k => key(k) === chosen, choose: k => choose(key(k) === chosen ? '' : key(k)),
    detail: k => <Described doc={doc} table="device_kernels" rows={each(k)} /> } }} />
}

export function Threads(p: SectionProps) { return p.view.select ? <SelectedThreads {...p} /> : <AllThreads {...p} /> }

function AllThreads({ doc }: SectionProps) {
  const t = doc.threads, e = t.efficiency ?? {}
  return <Fragment>
    <p>Parallel efficiency of {count(t.threads)} threads {share(e.parallel)}: processes {share(e.process)} × threads {share(e.thread)}; inside parallel regions {share(e.region)}, serial parts {share(e.serial)}; idle threads outside them {time(t.idle_ns)}.</p>
    <Tables doc={doc} tab="threads" uses={{ threads: { sort: '', first: 40 } }} />
  </Fragment>
}

export function Phases(props: SectionProps) {
  const { doc, change, model, view } = props
  const p = doc.phases, start = doc.trace.start_ns, [from, to] = span(props)
  const rows: any[] = useMemo(() => (p.rows ?? []).filter((r: any) => !view.select || r.from_ns - start < to && r.to_ns - start > from), [p, view.select])
  return <Fragment>
    <p>{count(p.count)} phases, from {p.operation ?? p.region ?? 'a call'} to its next; they take {time(p.period_ns?.min)} at least, {time(p.period_ns?.p50)} in the middle, {time(p.period_ns?.max)} at most; {count(p.outliers)} {p.outliers === 1 ? 'is' : 'are'} unlike the others. Choose one to see it in the timeline.</p>
    <Described doc={doc} table="phases" sort="" caption={view.select ? ' of which a part is selected, each as a whole' : ''} rows={rows} choose={r => {
      const from = Math.max(r.from_ns - start, 0), to = Math.min(r.to_ns - start, model.head.length_ns)
      if (to > from) change({ from, to })
    }} />
  </Fragment>
}

export function Files(p: SectionProps) { return p.view.select ? <SelectedFiles {...p} /> : <AllFiles {...p} /> }

function AllFiles({ doc }: SectionProps) {
  const f = doc.file_io
  return <Fragment>
    <p>{count(f.calls)} calls on files take {time(f.time_ns)} over all locations; {f.sizes.length ? `${bytes(f.read_bytes)} are read, ${bytes(f.write_bytes)} written` : 'how many bytes they move is not recorded'}.</p>
    <Tables doc={doc} tab="files" uses={{ sizes: { sort: '' } }} />
  </Fragment>
}
