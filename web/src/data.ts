// What the page was given: the document of the analysis, and the timeline (package page in Go
// says how it is encoded).

import { decodeCurves, type Counter, type Curve } from './curves'
import { decode, type Numbers, type Tally } from './numbers'
import { Reader, unpack } from './reader'

export interface Row { name: string; rank: number; master: boolean; step_ns: number; device?: string; node?: string }
// What a region is on a device ('compute' if not told), of a thread and on files is told where it matters.
export interface Region { name: string; paradigm: string; file?: string; line?: number; on_device?: string; of_thread?: string; on_file?: string; look: [host: number, shade: number, device: number, shade: number] }
// A Class is what some regions do, and the colors that these have.
export interface Class { key: string; title: string; light: string[]; dark: string[] }

export interface Header {
  length_ns: number
  rows: Row[]
  regions: Region[]
  paths: [parent: number, region: number, site: number][]
  sites: { file: string; line: number }[]
  costs: { names: { name: string; unit: string }[]; rows: number[][] } // of the whole run: path, and what it has of each name
  activities: [path: number, wait: number][]
  waits: string[]
  partners: boolean[]    // by wait: it is for the partner of a message
  comms: string[]        // names of the first communicators
  counters: Counter[]
  messages_of: number
  collectives_of: number
  critical_of: number
  palette: Class[]
  files: string[] | null // beside the page
  served: boolean        // more can be asked for (Detail)
}

// A lane is what a row did: run i lasts from start[i] to start[i+1] (ns) and is of activity kind[i].
// step is what times are rounded to, 1 if they are exact.
export interface Lane { start: Float64Array; kind: Uint32Array; step: number; near?: number /* the run that was asked for last */ }

export interface Messages { from: Uint32Array; to: Uint32Array; sent: Float64Array; done: Float64Array; bytes: Float64Array; comm: Uint32Array; tag: Uint32Array }
export interface Collective {
  operation: number; first: number; last: number; latest: number; begin: number; latestBegin: number; end: number
  comm: number; members: number; root: number /* row, -1: none */; sent: number; received: number
}
export interface Stretch { row: number; from: number; to: number }

export interface Timeline { head: Header; lanes: Lane[]; tally: Tally; messages: Messages; sent: Float64Array /* in order */; collectives: Collective[]; critical: Stretch[]; curves: Curve[] }

// The document of `analyze --json`; of some lists only the first rows may be kept (cut).
export type Document = Record<string, any>

const textOf = (id: string) => document.getElementById(id)!.textContent!

async function unpackJSON(id: string): Promise<any> { return JSON.parse(new TextDecoder().decode(await unpack(textOf(id)))) }

// The program of worker.ts, which is bundled into this one.
declare const WORKER: string

// numbersOf unpacks numbers in a thread of their own; in this one where the browser gives no other.
function numbersOf(worker: Worker | null, text: string, head: Header): Promise<Numbers> {
  const length = head.length_ns, steps = Float64Array.from(head.rows, r => r.step_ns)
  const here = async () => decode(await unpack(text), length, steps)
  return worker === null ? here() : new Promise(done => {
    const got = (numbers: Numbers | null) => { worker.terminate(); done(numbers ?? here()) }
    worker.onmessage = e => got(e.data)
    worker.onerror = () => got(null)
    worker.postMessage({ text, length, steps })
  })
}

function newWorker(): Worker | null {
  try { return new Worker(URL.createObjectURL(new Blob([WORKER], { type: 'text/javascript' }))) } catch { return null }
}

// load reads run after run, with what is said of several: each run's comparison with the first,
// and how they scale.
export async function load(): Promise<{ runs: { doc: Document; timeline: Timeline; address: string }[]; comparisons: (Document | null)[]; scaling: Document | null }> {
  const there = (id: string) => document.getElementById(id) !== null, names = ['']
  for (let k = 1; there(`document-${k}`); k++) names.push(`-${k}`)
  const runs = Promise.all(names.map(async (name, k) => {
    const worker = newWorker(), head: Header = await unpackJSON('header' + name), numbers = numbersOf(worker, textOf('numbers' + name), head)
    const [doc, more, curves] = await Promise.all([unpackJSON('document' + name), unpackJSON('more' + name), unpack(textOf('curves' + name))])
    return { doc: { ...doc, more }, timeline: { ...timelineOf(head, await numbers), curves: decodeCurves(curves, 0, head.length_ns) }, address: k ? `${k}/` : '' }
  }))
  const comparisons = Promise.all(names.map(name => there('comparison' + name) ? unpackJSON('comparison' + name) : null))
  return { runs: await runs, comparisons: await comparisons, scaling: there('scaling') ? await unpackJSON('scaling') : null }
}

function timelineOf(head: Header, { of, start, kind, tally, messages, sent, rest }: Numbers): Omit<Timeline, 'curves'> {
  const r = new Reader(rest), collectives = r.collectives()
  let last = 0
  const critical = Array.from({ length: r.unsigned() }, (): Stretch => {
    const row = r.unsigned(), from = last + r.signed()
    last = from + r.unsigned()
    return { row, from, to: last }
  })
  const lanes = head.rows.map(({ step_ns: step }, k): Lane => ({ start: start.subarray(of[k] + k, of[k + 1] + k + 1), kind: kind.subarray(of[k], of[k + 1]), step, near: 0 }))
  return { head, lanes, tally, messages, sent, collectives, critical }
}

// A Detail is a stretch of the timeline as finely as it can be seen, asked from the server.
export interface Detail { from: number; to: number; lanes: Lane[]; messages: Messages | null; collectives: Collective[] }

// detail asks for one; Index.Tile says how it is encoded.
export async function detail(address: string, head: Header, from: number, to: number, steps: number, signal: AbortSignal): Promise<Detail> {
  const answer = await fetch(`${address}tile?from=${Math.floor(from)}&to=${Math.ceil(to)}&steps=${steps}`, { signal })
  if (!answer.ok) throw new Error(await answer.text())
  const r = new Reader(new Uint8Array(await answer.arrayBuffer()))
  const lanes = head.rows.map(() => {
    const step = r.unsigned()
    let t = Math.floor(from) - r.signed()
    const n = r.unsigned(), lane: Lane = { start: new Float64Array(n + 1), kind: new Uint32Array(n), step, near: 0 }
    for (let i = 0; i < n; i++) {
      lane.start[i] = Math.min(t, head.length_ns)
      t += r.unsigned()
      lane.kind[i] = r.unsigned()
    }
    lane.start[n] = Math.min(t, head.length_ns)
    return lane
  })
  const all = r.unsigned(), messages = r.messages()
  return { from, to, lanes, messages: messages.sent.length === all ? messages : null, collectives: r.collectives() }
}

// indexAt returns the run of a lane that holds a time.
export function indexAt(lane: { start: Float64Array; kind: Uint32Array; near?: number }, t: number): number {
  const { start, near = 0 } = lane
  let low = 0, high = lane.kind.length - 1
  if (near > 0 && near <= high) { // it is sought from where it was last, in steps that double
    const way = start[near] <= t ? 1 : -1
    if (way > 0) low = near
    else high = near - 1
    for (let step = 1, at = near + way; at >= low && at <= high; step *= 2, at = near + way * step) {
      const before = start[at] <= t
      if (before) low = at
      else high = at - 1
      if (before !== way > 0) break
    }
  }
  while (low < high) {
    const mid = (low + high + 1) >> 1
    if (start[mid] <= t) low = mid
    else high = mid - 1
  }
  if (lane.near !== undefined) lane.near = low
  return low
}
