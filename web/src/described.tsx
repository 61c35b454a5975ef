// Tables of the analysis, as package report describes them: the page has no titles of its own.

import { h, Fragment, type ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Document } from './data'
import { more, type ColumnOf, type TableOf } from './more'
import { Table, type Column, type Props } from './table'
import { term } from './terms'
import { bytes, count, file, grain, instant, share, time, unknown } from './units'

// A Chain is a row of the document and what it lies in, the innermost first.
type Chain = any[]

// faces are the bits of report.Faces.
const faces = { page: 2, selected: 4 }

// below returns the rows at a path from a row: devices[].streams[] are all streams of all devices, {} are the entries of an object.
function below(chain: Chain, path: string): Chain[] {
  if (!path) return [chain]
  const [step, ...rest] = path.split('.'), value = chain[0][step.replace(/\[\]|\{\}/, '')]
  if (value == null) return []
  const inner = step.endsWith('[]') ? value : step.endsWith('{}') ? Object.entries(value).map(([key, v]: any) => ({ key, ...v })) : [value]
  return inner.flatMap((v: any) => below([v, ...chain], rest.join('.')))
}

// valueOf returns what a row, or what it lies in, has at a key; null: nothing.
function valueOf(chain: Chain, key: string): any {
  if (!key) return chain[0]
  for (let v of chain) if (key.split('.').every(k => v != null && k in Object(v) && (v = v[k], true))) return v
  return null
}

// place names a source line.
export function place(r: { region?: string | null; file?: string | null; line?: number | null }): string {
  const at = r.file ? r.line ? `${file(r.file)}:${r.line}` : file(r.file) : ''
  return r.region ? at ? `${r.region} (${at})` : r.region : at || unknown
}

// deviceName names a device and its rank, which some traces have in the device's name already.
export function deviceName({ rank, device }: { rank?: number | null; device: string }): string {
  const of = `rank ${rank}`
  return rank == null || rank < 0 || /^rank \d+\b/.exec(device)?.[0] === of ? device : `${of}, ${device}`
}

const numbers: Record<string, (v: number) => string> = {
  plain: String, rank: String, count, time, share, bytes, bandwidth: v => `${bytes(v)}/s`,
  decimal: v => v.toPrecision(3), number: v => String(Number(v.toPrecision(6))), ratio: v => v.toFixed(3),
}

// shown writes a number in its unit.
export function shown(unit: string, v: number): string { return numbers[unit](v) }

// textOf returns the value of a column that is no number.
function textOf(c: ColumnOf, doc: Document, chain: Chain): string | null {
  const v = valueOf(chain, c.key)
  switch (c.unit) {
    case 'place': return v && place(v)
    case 'wait_state': return more(doc).waits[v] ?? v
    case 'operation': return v || (doc.efficiency && !chain[0].region?.startsWith('(') ? c.says! : null)
    case 'launcher': return v || (valueOf(chain, 'call') ? '' : c.says!)
    case 'device': return deviceName({ rank: valueOf(chain, 'rank'), device: v })
    case 'thread': return v.row ?? `rank ${v.rank}, ${v.name || `thread ${v.thread}`}`
    case 'flag': return v ? c.says! : ''
  }
  return v
}

// long is how many characters a name may have that is shown whole; a label is never cut.
const long = 30

// column makes a column of the page from its description.
function column(c: ColumnOf, doc: Document): Column<Chain> {
  const title = c.title.charAt(0).toUpperCase() + c.title.slice(1)
  const head = { name: c.modelled && doc.trace?.rebuilt ? `≈ ${title}` : title, title: c.term && term(c.term), bar: c.bar }
  const known = (r: Chain) => !c.with || valueOf(r, c.with) != null
  if (c.unit === 'instant') {
    const length = doc.trace.duration_ns
    const at = (r: Chain) => valueOf(r, c.key) - doc.trace.start_ns
    return { ...head, value: at, show: r => instant(at(r), length / 1e5, grain(length)) }
  }
  if (!numbers[c.unit ?? '']) {
    const show = (r: Chain): ComponentChildren => {
      const v = textOf(c, doc, r) ?? unknown, cut = c.unit !== 'label' && v.length > long
      const whole = c.unit === 'place' && valueOf(r, c.key)?.file
      return whole || cut ? <span class={cut ? 'folded' : ''} title={whole || v}>{v}</span> : v
    }
    return { ...head, value: r => textOf(c, doc, r), show, brief: true }
  }
  const value = (r: Chain): number | null => known(r) ? valueOf(r, c.key) : null
  return { ...head, value, show: r => {
    const v = value(r), of = c.of && valueOf(r, c.of)
    if (v == null) return unknown
    return <Fragment>{shown(c.unit!, v)}{of ? <small class="faint"> {share(v / of)}</small> : null}</Fragment>
  } }
}

// describedBy returns a description.
export function describedBy(doc: Document, key: string): TableOf { return more(doc).tables.find(t => t.key === key)! }

// rowsOf returns the rows of a table.
function rowsOf(doc: Document, t: TableOf): Chain[] { return below([doc], t.path).filter(r => !t.where || valueOf(r, t.where)) }

// How a table is used: its rows may be others than those of the document, then mostly of a selected time; it is sorted by the
// column of a key, at first by the first with bars ('' as in the document). Cells are special ones by key, extra are further columns.
export interface Use extends Partial<Omit<Props<any>, 'columns' | 'sort'>> {
  doc: Document
  table: string
  selected?: boolean
  sort?: string
  cells?: Record<string, (row: any) => ComponentChildren>
  extra?: Column<any>[]
}

export function Described({ doc, table, selected, sort, rows, chosen, choose, hidden, detail, caption, cells, extra, ...rest }: Use) {
  const t = describedBy(doc, table), marked = !!doc.trace?.rebuilt && !!t.modelled
  const chains = useMemo((): Chain[] => rows ? rows.map(r => [r, doc]) : rowsOf(doc, t), [doc, t, rows])
  const of = useMemo(() => t.columns.filter(c => (c.faces ?? faces.page) & (selected ? faces.selected : faces.page)), [t, selected])
  const own = <T,>(f?: (row: any) => T) => f && ((r: Chain) => f(r[0]))
  const columns = useMemo(() => [...of.map(c => ({ ...column(c, doc), ...cells?.[c.key] && { show: own(cells[c.key]), brief: false } })),
    ...(extra ?? []).map(c => ({ ...c, value: own(c.value)!, show: own(c.show) }))], [of, cells, extra])
  const by = of.findIndex(c => sort === undefined ? c.bar : c.key === sort)
  const title = (marked ? '≈ ' : '') + t.title + (caption ?? (selected ? ' in the selected time' : ''))
  const folded = useMemo(() => own(hidden), [hidden])
  return <Table<Chain> key={`${selected} ${sort}`} caption={title} note={selected && caption === undefined ? '' : t.note} columns={columns} rows={chains} sort={sort === '' ? -1 : by}
    chosen={own(chosen)} choose={own(choose)} hidden={folded} detail={own(detail)} {...(rest as any)} />
}

// Tables shows all tables of a part of the page that have rows; some have uses of their own.
export function Tables({ doc, tab, uses = {} }: { doc: Document; tab: string; uses?: Record<string, Partial<Use>> }) {
  const all = more(doc).tables.filter(t => t.tab === tab), some = all.filter(t => rowsOf(doc, t).length > 0)
  const shown = some.length ? some : all.slice(0, 1)
  return <Fragment>{shown.map(t => <Described key={t.key} doc={doc} table={t.key} {...uses[t.key]} />)}</Fragment>
}
