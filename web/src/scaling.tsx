// How a program scales, from runs of several sizes, as tracekit scaling says it.

import { h, Fragment } from 'preact'
import { Described } from './described'
import type { SectionProps } from './sections'
import { Table, type Column } from './table'
import { term } from './terms'
import { count, share, time, unknown } from './units'

const factors: [key: string, name: string][] = [
  ['global_efficiency', 'global efficiency'], ['parallel_efficiency', 'parallel efficiency'], ['process_efficiency', 'of processes'], ['thread_efficiency', 'of threads'], ['load_balance', 'load balance'],
  ['communication_efficiency', 'communication efficiency'], ['serialization_efficiency', 'serialization'], ['transfer_efficiency', 'transfer'], ['computation_scalability', 'computation scalability'],
  ['ipc_scalability', 'IPC scalability'], ['instruction_scalability', 'instruction scalability'], ['frequency_scalability', 'frequency scalability'],
]

interface Line { name: string; points: [x: number, y: number][]; dashed?: boolean }

const inks = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#D55E00', '#B8A800', '#77AADD', '#44BB99']

export function Scaling({ doc }: SectionProps) {
  const s = doc.scaling, sizes: any[] = s.sizes
  const label = (z: any) => z.threads > z.processes ? `${count(z.processes)} (${count(z.threads)} threads)` : count(z.processes)
  const rows: { name: string; of: (z: any) => number | null; show: (v: number) => string }[] = [
    ...factors.map(([key, name]) => ({ name, of: (z: any) => z[key] ?? null, show: share })),
    { name: 'speedup', of: z => z.speedup ?? null, show: v => v.toFixed(3) }, { name: 'average IPC', of: z => z.ipc ?? null, show: v => v.toFixed(3) },
    { name: 'average frequency, GHz', of: z => z.frequency_ghz ?? null, show: v => v.toFixed(3) }, { name: 'run time', of: z => z.runtime_ns, show: time },
  ]
  const columns: Column<any>[] = [{ name: 'By processes', value: r => r.name }, ...sizes.map((z): Column<any> => ({ name: label(z), value: r => r.of(z), show: r => r.of(z) == null ? unknown : r.show(r.of(z)) }))]
  const line = (key: string, name: string): Line => ({ name, points: sizes.filter(z => z[key] != null).map(z => [z.processes, z[key]]) })
  const models: Column<any>[] = [
    { name: 'Place', value: r => r.path.join(' > ') }, { name: `With ${label(sizes[sizes.length - 1])}`, value: r => r.values[r.values.length - 1], show: r => time(r.values[r.values.length - 1]) },
    { name: `With ${count(s.at)}`, title: term('model'), value: r => r.predicted, show: r => time(r.predicted), bar: true }, { name: 'Share', value: r => r.share, show: r => share(r.share) },
    { name: 'At least', title: term('at least, at most of a model'), value: r => r.low, show: r => time(r.low) }, { name: 'At most', value: r => r.high, show: r => time(r.high) },
    { name: 'Grows as', value: r => r.growth },
  ]
  const overheads = sizes.map((z, k): Column<any> => ({ name: label(z), value: r => r.sizes[k]?.share ?? null, show: r => {
    const at = r.sizes[k]
    return at?.share == null ? unknown : `${share(at.share)}${2 * at.unreliable_calls > at.calls ? ' ?' : ''}`
  } }))
  const ideal: Line = { name: 'ideal', dashed: true, points: sizes.map(z => [z.processes, Math.max(z.threads, 1) / Math.max(sizes[0].threads, 1)]) }
  return <Fragment>
    <p>{count(s.runs.length)} runs of {count(sizes.length)} sizes{s.mode && `: ${s.mode} scaling${s.mode_detected ? ' (found from the work that they do)' : ''}`}.</p>
    {s.comparable.reasons.map((r: string) => <p class="warning">{r}</p>)}
    {(s.notes ?? []).map((n: string) => <p class="faint">{n}</p>)}
    <div class="pair even">
      <Chart title="Efficiencies and scalabilities by processes" lines={factors.filter(([k]) => !['process_efficiency', 'thread_efficiency', 'communication_efficiency'].includes(k)).map(([k, n]) => line(k, n)).filter(l => l.points.length)} low={0} show={share} />
      {sizes.some(z => z.speedup != null) && <Chart title="Speedup by processes" lines={[line('speedup', 'measured'), ideal]} low={0} show={v => v.toFixed(2)} />}
    </div>
    <Table caption="Efficiencies and scalabilities; speedup and scalabilities refer to the smallest size" columns={columns} rows={rows.filter(r => sizes.some(z => r.of(z) != null))} />
    {s.at > 0 && <Table first={10} caption={`Where the time goes with ${count(s.at)} processes: time of a process in the mean, without what is called`} columns={models} rows={s.models ?? []} />}
    {s.overhead?.lines.length > 0 && <Described doc={doc} first={10} table="scaling_shares" sort="" extra={overheads} />}
    {s.overhead?.lines.length > 0 && <Described doc={doc} first={10} table="scaling_overhead" sort="" rows={s.overhead.lines.flatMap((l: any) => l.sizes.filter(Boolean).map((z: any) => ({ ...l, ...z })))} />}
  </Fragment>
}

// A Chart draws lines over numbers of processes, on a logarithmic axis.
function Chart({ title, lines, low, show }: { title: string; lines: Line[]; low: number; show: (v: number) => string }) {
  const xs = [...new Set(lines.flatMap(l => l.points.map(p => p[0])))].sort((a, b) => a - b), high = Math.max(...lines.flatMap(l => l.points.map(p => p[1])), 1)
  const span = Math.log(xs[xs.length - 1] / xs[0]) || 1
  const x = (v: number) => 50 + 440 * Math.log(v / xs[0]) / span, y = (v: number) => 210 - 195 * (v - low) / (high - low)
  return <figure class="chart">
    <figcaption>{title}</figcaption>
    <svg viewBox="0 0 500 235" role="img" aria-label={`${title}: ${lines.map(l => `${l.name} ${l.points.map(p => `${show(p[1])} with ${p[0]}`).join(', ')}`).join('; ')}`}>
      {[0, 0.25, 0.5, 0.75, 1].map(s => { const v = low + s * (high - low); return <g><line x1="50" x2="490" y1={y(v)} y2={y(v)} class="grid" /><text x="46" y={y(v) + 4} text-anchor="end">{show(v)}</text></g> })}
      {xs.map(v => <text x={x(v)} y="228" text-anchor="middle">{count(v)}</text>)}
      {lines.map((l, k) => <g stroke={l.dashed ? 'currentColor' : inks[k % inks.length]} fill={l.dashed ? 'currentColor' : inks[k % inks.length]}>
        <polyline fill="none" stroke-width="2" stroke-dasharray={l.dashed ? '5 4' : undefined} points={l.points.map(p => `${x(p[0])},${y(p[1])}`).join(' ')} />
        {l.points.map(p => <circle cx={x(p[0])} cy={y(p[1])} r="3"><title>{`${l.name}: ${show(p[1])} with ${p[0]}`}</title></circle>)}
      </g>)}
    </svg>
    <ul class="legend">{lines.map((l, k) => <li>{<svg class="swatch" viewBox="0 0 1 1" aria-hidden="true"><rect width="1" height="1" fill={l.dashed ? 'currentColor' : inks[k % inks.length]} /></svg>}{l.name}</li>)}</ul>
  </figure>
}
