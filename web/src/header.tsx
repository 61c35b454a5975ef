// The top of the page: how the run spends its time, and whether the trace can be trusted.

import { h, type ComponentChildren } from 'preact'
import { shown } from './described'
import type { Document } from './data'
import { more, type More } from './more'
import { term } from './terms'
import { bytes, count, share, time, unbroken } from './units'

type Tile = [name: string, value: string, term?: string]

export function Header({ doc, length, name, children }: { doc: Document; length: number; name?: string; children?: ComponentChildren }) {
  const e = doc.efficiency, findings: any[] = doc.findings ?? [], lost = findings.filter(f => f.severity !== 'info').sort((a, b) => weight(b) - weight(a))
  const [, ranks, word] = more(doc).ranks?.match(/(.*) (.*)/) ?? []
  const size: Tile[] = [['run time', time(length), term('run time')], ...ranks ? [[word, ranks] as Tile] : []], tiles: Tile[] = []
  const f = doc.file_io, processes = doc.trace?.processes - (doc.trace?.processes_missing ?? 0)
  if (f) tiles.push(["of main threads' time in calls on files", share(length > 0 ? f.main_threads_ns / (length * Math.max(processes, 1)) : null)])
  if (f?.read_bytes > 0) tiles.push(['read', bytes(f.read_bytes)])
  if (f?.write_bytes > 0) tiles.push(['written', bytes(f.write_bytes)])
  const job = doc.training
  if (job) tiles.push(['a step', time(job.step_ns)], ['with equal workers', time(job.equal_ns)], ['slowdown', shown('ratio', job.slowdown), term('slowdown')])
  const t = doc.threads?.efficiency
  if (t) tiles.push(['efficiency of all threads', share(t.parallel), term('useful time of threads')])
  const r = e?.without_init_finalize ?? e // without startup
  if (r && !more(doc).hidden) tiles.push([t ? 'efficiency of processes' : 'parallel efficiency', share(r.parallel_efficiency), term('parallel efficiency')], ['load balance', share(r.load_balance), term('load balance')], ['communication efficiency', share(r.communication_efficiency), term('communication')])
  const sentences = unbroken((more(doc).unclassified ?? []).join(' ')).split(/(?<=\.) (?=[A-Z])/)
  return <header>
    <div class="title"><h1>{name ?? document.title}</h1>{children}{more(doc).writer && <span class="faint writer" title={more(doc).writer}>{more(doc).writer}</span>}<Tiles of={size} />{!lost.length && !more(doc).doubts && <p class="sound">The trace is sound.</p>}</div>
    {doc.trace?.rebuilt && <p class="warning">This trace was rebuilt from statistics{doc.trace.rebuilt.from && ` (${doc.trace.rebuilt.from})`}; single times are modelled, not recorded.</p>}
    {doc.selection && <p class="warning">The figures are of a part of the run, from {time(doc.selection.from_ns - doc.trace.start_ns)} to {time(doc.selection.to_ns - doc.trace.start_ns)}{doc.selection.ranks.length > 0 && `, of ${count(doc.selection.ranks.length)} ranks`}; timeline and call tree are of all of it.</p>}
    {more(doc).doubts && <p class="warning">{more(doc).doubts!.join(' ')}</p>}
    {lost.length > 0 && <p class="warning">The trace is not whole: {lost.map(f => f.text).slice(0, 3).join('; ')}{lost.length > 3 && ' …'}</p>}
    {more(doc).splits?.map(x => <Split {...x} />)}
    <Tiles of={tiles} />
    {more(doc).hidden && <p class="faint">{more(doc).hidden}</p>}
    {sentences[0] && <details class="faint"><summary>{sentences[0]}</summary>{sentences.slice(1).join(' ')}</details>}
  </header>
}

// weight orders findings: contradictions come first, then ranks that are not there to the end.
function weight(f: any): number { return f.severity === 'error' ? 2 : Number(/^(early_end|missing_rank)$/.test(f.code)) }

function Tiles({ of }: { of: Tile[] }) { return <ul class="tiles">{of.map(([name, v, t]) => <li title={t}><b>{v}</b> {name}</li>)}</ul> }

// Split shows how a time is spent: a bar, and what its colors are.
function Split({ title, about, parts, notes }: NonNullable<More['splits']>[number]) {
  const seen = parts.filter(p => p.share >= 0.001), named = seen.filter(p => p.share >= 0.005 || p.kind === 'work')
  return <figure class="split">
    <figcaption><b>{title}</b> <span class="faint">{about}</span></figcaption>
    <div class="stack-bar" role="img" aria-label={seen.map(p => `${p.label} ${share(p.share)}`).join(', ')}>
      {seen.map(p => <span class={`kind-${p.kind}`} style={{ flexGrow: p.share }} title={`${p.label}: ${share(p.share)}`} />)}</div>
    <ul class="legend">{named.map(p => <li><span class={`swatch kind-${p.kind}`} />{p.label} <b>{share(p.share)}</b></li>)}</ul>
    {notes && <p class="faint">{notes.map(n => <span>{n} </span>)}</p>}
  </figure>
}
