// What is computed from the timeline in the page: colors, names, and sums over a selection.

import { indexAt, type Header, type Timeline } from './data'
import { depths } from './levels'
import { file, together } from './units'

export type ColorBy = 'region' | 'class' | 'wait' | `counter:${string}`

// What does not wait, where colors are those of wait states.
const quiet = { light: ['#c3ccd4', '#9aa0a6'], dark: ['#4d5a66', '#76818c'] }

// A Look is a color, what has it, and of which class that is; share is of all time that is recorded.
export interface Look { color: string; name: string; of: string; share: number }

// A Coloring says how each activity is drawn, each path where it is a level of a stack, and each wait state there.
export interface Coloring { of: Uint32Array; paths: Uint32Array; waits: Uint32Array; css: (path: number) => string; legend: Look[] }

export class Model {
  readonly head: Header
  readonly names: string[]       // of paths' innermost regions
  readonly activityTime: Float64Array // over all rows
  readonly coarsest: number      // step of the rows that is longest, ns

  // address is where more can be asked for, if the page is served.
  constructor(readonly timeline: Timeline, readonly address = '') {
    this.head = timeline.head
    this.names = this.head.paths.map(([, region]) => this.regionName(region))
    this.activityTime = new Float64Array(this.head.activities.length)
    this.coarsest = this.head.rows.reduce((most, r) => Math.max(most, r.step_ns), 1)
    const { kind, ns } = timeline.tally
    for (let i = 0; i < kind.length; i++) this.activityTime[kind[i]] += ns[i]
  }

  // kinds returns the activities that a row has.
  kinds(row: number): Uint32Array { const { of, kind } = this.timeline.tally; return kind.subarray(of[row], of[row + 1]) }

  // called returns, by row, whether a region is entered there, or that it cannot be told; all of them
  // if it is so nowhere.
  called(): Uint8Array {
    const { activities } = this.head
    const out = Uint8Array.from(this.timeline.lanes, (l, r) => l.step > 1 || this.kinds(r).some(k => activities[k][0] >= 0) ? 1 : 0)
    return out.includes(1) ? out : out.fill(1)
  }

  private depthOf: Uint32Array | null = null // by row

  // levels returns how many levels of calls and waits a row has.
  levels(row: number): number {
    if (!this.depthOf) {
      const of = depths(this.head)
      this.depthOf = Uint32Array.from(this.timeline.lanes, (_, r) => this.kinds(r).reduce((most, k) => Math.max(most, of[k]), 0))
    }
    return this.depthOf[row] ?? 0
  }

  regionName(region: number): string { return this.head.regions[region]?.name ?? '(unknown)' }

  rowName(row: number): string {
    const r = this.head.rows[row]
    if (!r) return ''
    return r.rank >= 0 && r.master ? `rank ${r.rank}` : r.rank >= 0 ? `rank ${r.rank}, ${r.name}` : r.name || `row ${row}`
  }

  // label is the row's name beside its bars: short, for the rank is told by the row above.
  label(row: number): string {
    const r = this.head.rows[row]
    if (!r || r.rank < 0 || r.master) return this.rowName(row)
    const devices = r.device && this.head.rows.some(o => o.rank === r.rank && o.device && o.device !== r.device)
    const name = devices ? `${r.device}, ${r.name}` : r.name
    return this.head.rows.some(o => o.rank >= 0 && o.rank !== r.rank) ? `${r.rank} · ${name}` : name || this.rowName(row)
  }

  // pathRegions returns the path from the outermost region inwards.
  pathRegions(path: number): number[] {
    const out = []
    for (let p = path; p >= 0; p = this.head.paths[p][0]) out.push(p)
    return out.reverse()
  }

  where(path: number): string {
    const p = this.head.paths[path]
    if (!p) return ''
    const site = this.head.sites[p[2]]
    if (site) return `${file(site.file)}:${site.line}`
    const region = this.head.regions[p[1]]
    return region?.file ? `${file(region.file)}:${region.line}` : ''
  }

  // line returns where a path is in the source: where it is called, or where its region begins
  // (then it is somewhere in it).
  line(path: number): { file: string; line: number; whole: boolean } | null {
    const [, region, at] = this.head.paths[path], site = this.head.sites[at], r = this.head.regions[region]
    if (site) return { ...site, whole: false }
    return r?.file && r.line ? { file: r.file, line: r.line, whole: true } : null
  }

  // body returns the stretch of time from the last end of MPI_Init to the first begin of MPI_Finalize, all of the run if these take less
  // than a tenth of it; without MPI that from the first to the last work of devices, if it is less than half.
  body(): [number, number] {
    const { head, tally } = this.timeline
    const is = (name: RegExp) => Uint8Array.from(head.activities, ([p]) => p >= 0 && name.test(this.names[p]) ? 1 : 0)
    const init = is(/^MPI_Init(_thread)?$/), final = is(/^MPI_Finalize$/)
    let from = 0, to = head.length_ns
    tally.kind.forEach((k, i) => {
      if (init[k]) from = Math.max(from, tally.end[i])
      if (final[k]) to = Math.min(to, tally.begin[i])
    })
    if (from > 0 || to < head.length_ns) return to > from && to - from < 0.9 * head.length_ns ? [from, to] : [0, head.length_ns]
    const work = this.busyTimes(head.rows.flatMap((r, k) => r.device ? [k] : [])), begin = work.length ? work[0][0] : 0, end = work.reduce((t, w) => Math.max(t, w[1]), begin), around = Math.max((end - begin) / 20, 1000)
    return end > begin && end - begin < head.length_ns / 2 ? [Math.max(begin - around, 0), Math.min(end + around, head.length_ns)] : [0, head.length_ns]
  }

  // coloring gives each activity a color, 0xAABBGGRR, by what its region does and how it is called, and says what the colors mean, with
  // shares of the time of some rows, or of all.
  coloring(by: ColorBy, dark: boolean, rows?: number[]): Coloring {
    const { activities, paths, regions, waits, palette } = this.head, theme = dark ? 'dark' : 'light'
    const onDevice = new Uint8Array(paths.length)
    this.head.rows.forEach(({ device }, r) => { if (device) for (const k of this.kinds(r)) if (activities[k][0] >= 0) onDevice[activities[k][0]] = 1 })
    const waiting = palette.findIndex(c => c.key === 'waiting'), annotation = palette.findIndex(c => c.key === 'annotation')
    const ofWait = (wait: number) => ({ name: by === 'wait' ? waits[wait] : 'waiting', class: waiting, color: palette[waiting][theme][by === 'wait' ? (wait - 1) % palette[waiting][theme].length : 0] })
    const ofPath = (path: number) => {
      const region = regions[paths[path][1]], mpi = region?.paradigm === 'mpi'
      const [number, shade] = region?.look.slice(onDevice[path] ? 2 : 0) ?? [0, 0], own = palette[number]
      if (by === 'wait') return { name: mpi ? 'in MPI, not waiting' : 'outside MPI', class: number, color: quiet[theme][Number(mpi)] }
      return by === 'class' ? { name: own.title, class: number, color: own[theme][0] } : { name: (region?.name ?? '(unknown)').replace(/#\d+$/, '#…'), class: number, color: own[theme][shade] } // steps that are numbered are one
    }
    const looks = activities.map(([path, wait]) => path < 0 ? null : wait > 0 ? ofWait(wait) : ofPath(path)), legend = new Map<string, Look>()
    const times = rows ? this.sums(0, this.head.length_ns, rows) : this.activityTime, all = looks.reduce((sum, look, a) => sum + (look ? times[a] : 0), 0) || 1
    looks.forEach((look, a) => {
      if (!look) return
      const key = `${look.class} ${look.name}`, l = legend.get(key) ?? { name: look.name, color: look.color, of: palette[look.class].title, share: 0 }
      l.share += times[a] / all
      legend.set(key, l)
    })
    return {
      of: Uint32Array.from(looks, l => !l ? 0 : packed(l.color, l.class === annotation ? 0x50 : 0xff)), // names for stretches of a stream lie behind its work
      paths: Uint32Array.from(paths, (_, p) => packed(ofPath(p).color)),
      css: path => ofPath(path).color,
      waits: Uint32Array.from(waits, (_, w) => w ? packed(ofWait(w).color) : 0),
      legend: [...legend.values()].sort((a, b) => b.share - a.share || (a.name < b.name ? -1 : 1)),
    }
  }

  // sums adds up, over rows and a span of time, what each activity took.
  sums(from: number, to: number, rows: number[]): Float64Array {
    const out = new Float64Array(this.head.activities.length)
    for (const r of rows) this.addRow(r, from, to, out)
    return out
  }

  // byRow returns the time each row spends in a set of activities.
  byRow(from: number, to: number, wanted: Uint8Array): Float64Array {
    return Float64Array.from(this.timeline.lanes, (_, r) => this.timeIn(r, wanted, from, to))
  }

  // timeIn returns how long a row is in wanted activities.
  timeIn(row: number, wanted: Uint8Array, from: number, to: number): number {
    const { lanes, tally } = this.timeline, { start, kind } = lanes[row]
    let sum = 0
    if (from <= 0 && to >= this.head.length_ns) {
      for (let i = tally.of[row]; i < tally.of[row + 1]; i++) if (wanted[tally.kind[i]]) sum += tally.ns[i]
      return sum
    }
    for (let i = kind.length ? indexAt({ start, kind }, from) : 0; i < kind.length && start[i] < to; i++) {
      if (wanted[kind[i]]) sum += Math.max(Math.min(start[i + 1], to) - Math.max(start[i], from), 0)
    }
    return sum
  }

  // timeByPath sums what rows spend in wanted activities.
  timeByPath(wanted: Uint8Array, rows: number[], from = 0, to = this.head.length_ns): Float64Array {
    const out = new Float64Array(this.head.paths.length)
    this.sums(from, to, rows).forEach((t, a) => { if (wanted[a]) out[this.head.activities[a][0]] += t })
    return out
  }

  // lost returns which share of rows waits in equal parts of a stretch of time; of a trace without waits, which share of devices is
  // idle, or of rows is in calls.
  lost(from: number, to: number, bins: number): { what: string; doing: boolean; shares: Float64Array } {
    const { rows, activities } = this.head, per = bins / (to - from), called = this.called()
    // Of each begin and end: what is left of its bin, and that it holds for all bins after.
    const part = new Float64Array(bins + 1), after = new Float64Array(bins + 2)
    const add = (t: number, sign: number) => {
      const at = Math.min(Math.max((t - from) * per, 0), bins), bin = Math.floor(at)
      part[bin] += sign * (bin + 1 - at)
      after[bin + 1] += sign
    }
    const shares = (of: number) => {
      let before = 0
      return Float64Array.from({ length: bins }, (_, x) => Math.min(Math.max((part[x] + (before += after[x])) / of, 0), 1))
    }
    const waits = rows.some(({ device }, r) => !device && this.kinds(r).some(k => activities[k][1] > 0)), devices = waits ? new Map() : this.devices()
    if (devices.size) {
      for (const streams of devices.values()) {
        let until = from
        for (const [begin, end] of this.busyTimes(streams)) if (end > until) { add(until, 1); add(Math.max(begin, until), -1); until = end }
        add(until, 1)
        add(to, -1)
      }
      return { what: 'Devices idle', doing: false, shares: shares(devices.size) }
    }
    const counts = Uint8Array.from(activities, ([path, wait]) => (waits ? wait > 0 : path >= 0) ? 1 : 0)
    let n = 0
    this.timeline.lanes.forEach(({ start, kind }, r) => {
      if (!called[r] || rows[r].device) return
      n++
      for (let i = 0; i < kind.length; i++) if (counts[kind[i]]) { add(start[i], 1); add(start[i + 1], -1) }
    })
    return { what: waits ? 'Waiting' : 'In calls', doing: !waits, shares: shares(Math.max(n, 1)) }
  }

  // devices returns the rows of each device.
  devices(): Map<string, number[]> {
    const { rows } = this.head
    return together(rows.flatMap(({ device }, r) => device ? [r] : []), r => `${rows[r].rank} ${rows[r].device}`)
  }

  // busyTimes returns when rows do something, in order of time; they may overlap.
  busyTimes(rows: number[]): [from: number, to: number][] {
    const out: [number, number][] = []
    for (const r of rows) { const { start, kind } = this.timeline.lanes[r]; kind.forEach((k, i) => { if (this.works(k)) out.push([start[i], start[i + 1]]) }) }
    return out.sort((a, b) => a[0] - b[0])
  }

  // works reports whether an activity is more than a name for a stretch of time in which there may be work.
  works(activity: number): boolean {
    const [path] = this.head.activities[activity]
    return path >= 0 && this.head.regions[this.head.paths[path][1]]?.on_device !== 'idle'
  }

  // visits returns when visits of wanted activities begin, in order of time.
  visits(wanted: Uint8Array, rows: number[]): Float64Array {
    const out: number[] = []
    for (const r of rows) {
      const { start, kind } = this.timeline.lanes[r]
      for (let i = 0; i < kind.length; i++) if (wanted[kind[i]] && !(i > 0 && wanted[kind[i - 1]])) out.push(start[i])
    }
    return Float64Array.from(out).sort()
  }

  // regionTimes returns the regions by their own time, as shares of all that is recorded.
  regionTimes(): { name: string; share: number }[] {
    const times = new Map<string, number>()
    this.head.activities.forEach(([p], a) => { if (p >= 0) times.set(this.names[p], (times.get(this.names[p]) ?? 0) + this.activityTime[a]) })
    const all = [...times.values()].reduce((s, t) => s + t, 0) || 1
    return [...times].map(([name, t]) => ({ name, share: t / all })).sort((a, b) => b.share - a.share || (a.name < b.name ? -1 : 1))
  }

  private addRow(r: number, from: number, to: number, out: Float64Array) {
    const { lanes, tally } = this.timeline, { start, kind } = lanes[r]
    if (from <= 0 && to >= this.head.length_ns) {
      for (let i = tally.of[r]; i < tally.of[r + 1]; i++) out[tally.kind[i]] += tally.ns[i]
      return
    }
    for (let i = 0; i < kind.length && start[i] < to; i++) {
      const d = Math.min(start[i + 1], to) - Math.max(start[i], from)
      if (d > 0) out[kind[i]] += d
    }
  }

  // below returns, by activity, whether its path lies in the tree below a path (or is it).
  below(path: number): Uint8Array {
    const inside = new Uint8Array(this.head.paths.length)
    this.head.paths.forEach(([parent], p) => { inside[p] = p === path || parent >= 0 && inside[parent] ? 1 : 0 })
    return Uint8Array.from(this.head.activities, ([p]) => p >= 0 ? inside[p] : 0)
  }

  // at returns, by activity, whether it belongs to a place of the document: a region, a line
  // of a file in it, an operation of MPI called there.
  at(place: { region?: string | null; file?: string | null; line?: number | null; operation?: string | null }): Uint8Array {
    const fits = this.head.paths.map(([, region], p) => {
      const name = this.regionName(region)
      if (place.operation) {
        if (name !== place.operation) return 0
        const site = this.head.sites[this.head.paths[p][2]]
        if (site && place.file) return site.file === place.file && (!place.line || site.line === place.line) ? 1 : 0
        return !place.region || this.pathRegions(p).some(q => this.names[q] === place.region) ? 1 : 0
      }
      return name === place.region ? 1 : 0
    })
    return Uint8Array.from(this.head.activities, ([p]) => p >= 0 ? fits[p] : 0)
  }
}

function packed(css: string, alpha = 0xff): number {
  const n = parseInt(css.slice(1), 16)
  return (alpha << 24 | (n & 0xff) << 16 | n & 0xff00 | n >> 16) >>> 0
}
