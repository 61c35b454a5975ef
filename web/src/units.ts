// Numbers as people read them.

// unknown stands for what is not known, as in the text report.
export const unknown = '-'

const lengths: [number, string][] = [[3600e9, 'h'], [1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']]

export function time(ns: number | null | undefined): string {
  if (ns == null) return unknown
  const size = Math.abs(ns)
  const [unit, name] = lengths.find(([u]) => size >= u) ?? [1, 'ns']
  const v = ns / unit
  return `${unit === 1 ? Math.round(v) : v.toPrecision(3).includes('e') ? Math.round(v).toString() : v.toPrecision(3)} ${name}`
}

// signedTime writes a difference.
export function signedTime(ns: number): string { return `${ns > 0 ? '+' : ns < 0 ? '−' : ''}${time(Math.abs(ns))}` }

// instant shows a moment to so many ns: the digits that tell two moments apart. Its unit is no
// smaller than that of a length, so that a column has one.
export function instant(ns: number, precision: number, length = precision): string {
  const [unit, name] = lengths.find(([u]) => Math.max(length, Math.abs(ns) / 1e5) >= u) ?? [1, 'ns']
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(unit / Math.max(precision, 1)))))
  return `${(ns / unit).toFixed(digits)} ${name}`
}

export function share(v: number | null | undefined): string {
  return v == null ? unknown : `${(100 * v).toFixed(v !== 0 && Math.abs(v) < 0.0995 ? 2 : 1)} %`
}

// unbroken keeps numbers and their units in one line.
export function unbroken(text: string): string {
  return text.replace(/(\d) (?=(%|[nµm]?s|min|h|B|[KMGT]iB)(?!\w))/g, '$1\u00a0')
}

// brief leaves of paths with a line the file's name.
export function brief(text: string): string { return text.replace(/(?<![\w./-])\/(?:[^\s():/]+\/)+([^\s():/]+:\d)/g, '$1') }

const grouped = new Intl.NumberFormat('en-US') // made once: it takes long

export function count(n: number | null | undefined): string {
  return n == null ? unknown : grouped.format(n)
}

export function bytes(n: number | null | undefined): string {
  if (n == null) return unknown
  for (const [unit, name] of [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB']] as [number, string][]) {
    if (n >= unit) return `${(n / unit).toPrecision(3)} ${name}`
  }
  return `${n} B`
}

// ticks returns round times between two, about so many.
export function ticks(from: number, to: number, about: number): number[] {
  const raw = (to - from) / Math.max(about, 1)
  const power = 10 ** Math.floor(Math.log10(Math.max(raw, 1e-9)))
  const step = Math.max(1, power * ([1, 2, 5, 10].find(m => m * power >= raw) ?? 10))
  const out = []
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) out.push(t)
  return out
}

// baseOf returns the round time that the ruler's times are counted from: 0 unless what is shown is short and late.
export function baseOf(from: number, to: number): number {
  const round = 10 ** Math.ceil(Math.log10(Math.max(to - from, 1)))
  return from < 10 * (to - from) ? 0 : Math.floor(from / round) * round
}

// grain is how far apart the ruler's times stand where all of a length is shown: tables of times have
// its unit.
export function grain(length: number): number {
  const [a, b] = ticks(0, length, 10)
  return b === undefined ? length : b - a
}

// file shows the last part of a path; the whole stands in titles.
export function file(path: string): string { return path.slice(path.lastIndexOf('/') + 1) || path }

// together groups what has the same key, in the order in which keys come.
export function together<K, T>(all: Iterable<T>, key: (x: T) => K): Map<K, T[]> {
  const out = new Map<K, T[]>()
  for (const x of all) { const k = key(x), of = out.get(k); if (of) of.push(x); else out.set(k, [x]) }
  return out
}
