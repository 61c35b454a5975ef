// What the page was given: the document of the analysis, and the timeline (package page in Go
// says how it is encoded).

import { decodeCurves, type Counter, type Curve } from './curves'

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
export interface Lane { start: Float64Array; kind: Uint32Array; step: number }

export interface Messages { from: Uint32Array; to: Uint32Array; sent: Float64Array; done: Float64Array; bytes: Float64Array; comm: Uint32Array; tag: Uint32Array }
export interface Collective {
  operation: number; first: number; last: number; latest: number; begin: number; latestBegin: number; end: number
  comm: number; members: number; root: number /* row, -1: none */; sent: number; received: number
}
export interface Stretch { row: number; from: number; to: number }

export interface Timeline { head: Header; lanes: Lane[]; messages: Messages; collectives: Collective[]; critical: Stretch[]; curves: Curve[] }

// The document of `analyze --json`; of some lists only the first rows may be kept (cut).
export type Document = Record<string, any>

async function unpack(id: string): Promise<Uint8Array> {
  const text = document.getElementById(id)!.textContent!
  const letters = atob(text), packed = new Uint8Array(letters.length)
  for (let i = 0; i < letters.length; i++) packed[i] = letters.charCodeAt(i) // many times as fast as Uint8Array.from
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

async function unpackJSON(id: string): Promise<any> {
  return JSON.parse(new TextDecoder().decode(await unpack(id)))
}

// load reads run after run, with what is said of several: each run's comparison with the first,
// and how they scale.
export async function load(): Promise<{ runs: { doc: Document; timeline: Timeline; address: string }[]; comparisons: (Document | null)[]; scaling: Document | null }> {
  const there = (id: string) => document.getElementById(id) !== null
  const runs = [], comparisons: (Document | null)[] = []
  for (let k = 0; k === 0 || there(`document-${k}`); k++) {
    const id = (name: string) => k ? `${name}-${k}` : name
    const [doc, more, head, numbers, curves] = await Promise.all([unpackJSON(id('document')), unpackJSON(id('more')), unpackJSON(id('header')), unpack(id('numbers')), unpack(id('curves'))])
    runs.push({ doc: { ...doc, more }, timeline: { ...decode(head, numbers), curves: decodeCurves(curves, 0, head.length_ns) }, address: k ? `${k}/` : '' })
    comparisons.push(there(id('comparison')) ? await unpackJSON(id('comparison')) : null)
  }
  return { runs, comparisons, scaling: there('scaling') ? await unpackJSON('scaling') : null }
}

// A Reader reads variable-length integers, base 128, the lowest seven bits first.
export class Reader {
  private at = 0
  constructor(private readonly bytes: Uint8Array) {}

  unsigned(): number {
    let b = this.bytes[this.at++], v = b & 127
    for (let scale = 128; b >= 128; scale *= 128) {
      b = this.bytes[this.at++]
      v += (b & 127) * scale
    }
    return v
  }

  signed(): number {
    const v = this.unsigned()
    return v % 2 ? -(v + 1) / 2 : v / 2
  }

  floats(n: number): Float32Array {
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.at, 4 * n)
    this.at += 4 * n
    return Float32Array.from({ length: n }, (_, i) => view.getFloat32(4 * i, true))
  }

  messages(): Messages {
    const n = this.unsigned()
    const m: Messages = { from: new Uint32Array(n), to: new Uint32Array(n), sent: new Float64Array(n), done: new Float64Array(n), bytes: new Float64Array(n), comm: new Uint32Array(n), tag: new Uint32Array(n) }
    let last = 0
    for (let i = 0; i < n; i++) m.from[i] = this.unsigned()
    for (let i = 0; i < n; i++) m.to[i] = this.unsigned()
    for (let i = 0; i < n; i++) last = m.sent[i] = last + this.signed()
    for (let i = 0; i < n; i++) m.done[i] = m.sent[i] + this.signed()
    for (let i = 0; i < n; i++) m.bytes[i] = this.unsigned()
    for (let i = 0; i < n; i++) m.comm[i] = this.unsigned()
    for (let i = 0; i < n; i++) m.tag[i] = this.unsigned()
    return m
  }

  collectives(): Collective[] {
    let last = 0
    return Array.from({ length: this.unsigned() }, () => {
      const operation = this.unsigned(), first = this.unsigned()
      const c: Collective = { operation, first, last: first + this.unsigned(), latest: this.unsigned(), begin: last + this.signed(), latestBegin: 0, end: 0, comm: 0, members: 0, root: -1, sent: 0, received: 0 }
      c.latestBegin = c.begin + this.unsigned()
      c.end = c.begin + this.signed()
      last = c.begin
      c.comm = this.unsigned()
      c.members = this.unsigned()
      c.root = this.unsigned() - 1
      c.sent = this.unsigned()
      c.received = this.unsigned()
      return c
    })
  }
}

// decode reads what Timeline.numbers writes. Times stay exact up to 2^53 ns, which is 104 days.
export function decode(head: Header, bytes: Uint8Array): Omit<Timeline, 'curves'> {
  const r = new Reader(bytes)
  const lanes = head.rows.map(row => {
    const n = r.unsigned()
    const lane: Lane = { start: new Float64Array(n + 1), kind: new Uint32Array(n), step: row.step_ns }
    let t = 0
    for (let i = 0; i < n; i++) {
      lane.start[i] = Math.min(t, head.length_ns)
      t += r.unsigned() * row.step_ns
    }
    lane.start[n] = head.length_ns
    return lane
  })
  for (const { kind } of lanes) for (let i = 0; i < kind.length; i++) kind[i] = r.unsigned()
  const messages = r.messages(), collectives = r.collectives()
  let last = 0
  const critical = Array.from({ length: r.unsigned() }, (): Stretch => {
    const row = r.unsigned(), from = last + r.signed()
    last = from + r.unsigned()
    return { row, from, to: last }
  })
  return { head, lanes, messages, collectives, critical }
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
    const n = r.unsigned(), lane: Lane = { start: new Float64Array(n + 1), kind: new Uint32Array(n), step }
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
export function indexAt(lane: { start: Float64Array; kind: Uint32Array }, t: number): number {
  let low = 0, high = lane.kind.length - 1
  while (low < high) {
    const mid = (low + high + 1) >> 1
    if (lane.start[mid] <= t) low = mid
    else high = mid - 1
  }
  return low
}
