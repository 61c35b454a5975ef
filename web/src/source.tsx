// The program's source with what its lines cost beside them.

import { h, Fragment } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { more } from './more'
import { span, type SectionProps } from './sections'
import { term } from './terms'
import { file as short, time } from './units'

// A Cost is what a line costs; of are the operations and regions that it is about, whole says
// that they are somewhere in the region that begins there.
interface Cost { time: number; wait: number; causes: number; of: string[]; whole: boolean }

export function Source(p: SectionProps) {
  const { doc, view, change } = p, files = more(doc).sources ?? [], lost = more(doc).lost ?? []
  const cut = view.file.lastIndexOf(':'), wanted = view.file.slice(0, Math.max(cut, 0))
  const file = files.find(f => f.name === wanted) ?? files[0]
  const costs = useCosts(p, file?.name ?? '')
  const costly = [...costs].sort(([a, x], [b, y]) => y.time + y.causes - x.time - x.causes || a - b).slice(0, 12)
  const line = Number(view.file.slice(cut + 1)) || costly[0]?.[0] || 0
  const box = useRef<HTMLDivElement>(null), mark = useRef<HTMLTableRowElement>(null)
  useEffect(() => { if (box.current && mark.current) box.current.scrollTop = mark.current.offsetTop - box.current.clientHeight / 3 }, [file, line])
  const missing = lost.length > 0 && <details class="faint"><summary>{lost.length} files that the trace names were not found</summary><ul>{lost.map(n => <li>{n}</li>)}</ul></details>
  if (!file) return <div><p class="faint">None of the files that the trace names is below the directory of --source.</p>{missing}</div>
  const most = { time: 1, wait: 1, causes: 1 }
  for (const c of costs.values()) for (const k of ['time', 'wait', 'causes'] as const) most[k] = Math.max(most[k], c[k])
  const cell = (c: Cost | undefined, k: 'time' | 'wait' | 'causes') => <td class="number">{c && c[k] > 0 && <Fragment><span class="bar" style={{ width: `${100 * c[k] / most[k]}%` }} /><span>{time(c[k])}</span></Fragment>}</td>
  return <div>
    <label>File <select value={file.name} onChange={e => change({ file: `${e.currentTarget.value}:0` })}>{files.map(f => <option value={f.name}>{short(f.name)}</option>)}</select></label>
    <p class="faint">{file.name}, shown from {file.found}{file.others > 0 && ` (${file.others} more ${file.others > 1 ? 'files' : 'file'} may be meant)`}. {view.select ? 'Times are of the selected stretch.' : ''} A + marks what is somewhere in the region that begins at the line.</p>
    {missing}
    {costly.length > 1 && <p class="keys">Costly lines: {costly.map(([n, c]) => <button aria-pressed={n === line} title={c.of.join(', ')} onClick={() => change({ file: `${file.name}:${n}` })}>{n}</button>)}</p>}
    <div class="tablebox code" ref={box} tabIndex={0} role="region" aria-label={`Source of ${short(file.name)}`}><table>
      <caption>Times summed over ranks</caption>
      <thead><tr><th scope="col" class="number">Line</th><th scope="col" class="number" title={term('time of a line')}>Time</th><th scope="col" class="number" title={term('wait state')}>Waiting</th>
        {!view.select && <th scope="col" class="number" title={term('waits caused')}>Causes</th>}<th scope="col">Source</th></tr></thead>
      <tbody>{(file.parts ?? []).map((part, k) => <Fragment>
        {(k > 0 || part.first > 1) && <tr class="gap"><td colSpan={5}>⋮</td></tr>}
        {part.text.map((text, i) => {
          const n = part.first + i, c = costs.get(n)
          return <tr class={n === line ? 'chosen' : c ? 'costly' : ''} ref={n === line ? mark : undefined} title={c?.of.join(', ')}>
            <td class="number faint">{c?.whole && '+'}{n}</td>{cell(c, 'time')}{cell(c, 'wait')}{!view.select && cell(c, 'causes')}<td><code>{text}</code></td></tr>
        })}</Fragment>)}</tbody>
    </table></div>
    {(file.parts ?? []).reduce((s, q) => s + q.text.length, 0) < file.lines && <p class="faint">The file has {file.lines} lines: those around costs are shown.</p>}
  </div>
}

// useCosts adds up what the lines of a file cost: calls of MPI where they are made, or where the
// region around them begins, and regions outside MPI where these begin.
function useCosts(p: SectionProps, file: string): Map<number, Cost> {
  const { doc, model, view } = p, [from, to] = span(p)
  return useMemo(() => {
    const out = new Map<number, Cost>()
    const add = (line: number | null, of: string, whole: boolean, time: number, wait: number, causes: number) => {
      if (!line || time + wait + causes <= 0) return
      const c = out.get(line) ?? { time: 0, wait: 0, causes: 0, of: [], whole }
      c.time += time
      c.wait += wait
      c.causes += causes
      c.whole = c.whole && whole
      if (!c.of.includes(of)) c.of.push(of)
      out.set(line, c)
    }
    if (view.select) {
      const sums = model.sums(from, to, model.timeline.lanes.map((_, i) => i))
      model.head.activities.forEach(([path, wait], a) => {
        if (path < 0 || sums[a] <= 0) return
        const at = model.line(path)
        if (at?.file === file) add(at.line, model.names[path], at.whole, sums[a], wait > 0 ? sums[a] : 0, 0)
      })
      return out
    }
    for (const l of doc.lines ?? []) if (l.file === file) add(l.line, l.operation, l.line_of === 'region', l.time_ns, l.late_partner_ns + l.imbalance_ns, l.causes_ns)
    for (const r of doc.profile ?? []) if (r.file === file && r.paradigm !== 'mpi') add(r.line, r.region, true, r.exclusive_ns, 0, 0)
    for (const d of doc.delays ?? []) if (d.file === file && !d.operation) add(d.line, d.region, d.line_of === 'region', 0, 0, d.total_ns)
    return out
  }, [doc, model, file, from, to])
}
