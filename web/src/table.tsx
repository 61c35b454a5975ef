import { h, Fragment, type ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { roving } from './roving'
import { term } from './terms'
import { count, unknown } from './units'

// A Column shows one value of a row; numbers sort by value and stand to the right.
export interface Column<R> {
  name: string
  title?: string                           // what it means
  value: (row: R) => number | string | null
  show?: (row: R) => ComponentChildren
  brief?: boolean                          // in one line, if all are short
  bar?: boolean                            // drawn behind the number, as a share of the largest
}

export interface Props<R> {
  caption: string
  note?: string                            // what it holds
  columns: Column<R>[]
  rows: R[]
  sort?: number                            // column that sorts at first, descending
  chosen?: (row: R) => boolean
  choose?: (row: R) => void
  hidden?: (row: R) => boolean             // unless it is sought
  first?: number                           // rows that are shown at first
  detail?: (row: R) => ComponentChildren   // below the chosen row
  more?: ComponentChildren                 // below the table
}

// copyCSV puts rows on the clipboard as comma-separated values, numbers in the units of the document (times in ns).
function copyCSV<R>(columns: Column<R>[], rows: R[]): Promise<void> {
  const cell = (v: string | number | null) => v === null ? '' : /[",\n]/.test(String(v)) ? `"${String(v).replaceAll('"', '""')}"` : String(v)
  const text = [columns.map(c => cell(c.name)), ...rows.map(r => columns.map(c => cell(c.value(r))))].map(line => line.join(',')).join('\n') + '\n'
  return navigator.clipboard.writeText(text)
}

// filtered is how many rows a table has before it gets a filter.
const filtered = 5

// unbroken is how many characters the texts of a column may have to stand in one line.
const unbroken = 20

export function Table<R>({ caption, note, columns, rows, sort = -1, chosen, choose, hidden, first = 25, detail, more }: Props<R>) {
  const [by, setBy] = useState({ column: sort, up: false })
  const [all, setAll] = useState(false)
  const [find, setFind] = useState('')
  const [copied, setCopied] = useState('')
  const wanted = find.toLowerCase()
  const sorted = useMemo(() => {
    const c = columns[by.column], found = wanted ? rows.filter(r => columns.some(c => { const v = c.value(r); return typeof v === 'string' && v.toLowerCase().includes(wanted) })) : hidden ? rows.filter(r => !hidden(r)) : rows
    if (!c) return found
    const order = by.up ? 1 : -1
    return found.map((r, i) => ({ r, i, v: c.value(r) })).sort((a, b) => {
      if (a.v == null || b.v == null) return a.v == null ? b.v == null ? a.i - b.i : 1 : -1
      return (a.v < b.v ? -order : a.v > b.v ? order : 0) || a.i - b.i
    }).map(x => x.r)
  }, [rows, columns, by, wanted, hidden])
  const most = useMemo(() => columns.map(c => c.bar ? Math.max(...rows.slice(0, 5000).map(r => Number(c.value(r)) || 0), 0) : 0), [rows, columns])
  if (!rows.length) return <p class="faint">{caption}: none.</p>
  const numeric = columns.map(c => rows.some(r => typeof c.value(r) === 'number'))
  const kinds = columns.map((c, k) => numeric[k] ? 'number' : (!c.show || c.brief) && rows.every(r => String(c.value(r) ?? '').length <= unbroken) ? 'short' : '')
  const blank = rows.slice(0, 5000).some(r => columns.some(c => c.value(r) == null))
  const place = chosen ? sorted.findIndex(chosen) : -1, shown = all ? sorted : sorted.slice(0, Math.max(first, place + 2)), at = shown.findIndex(r => chosen?.(r))
  return <div class="tablebox">
    {rows.length > filtered && numeric.includes(false) && <label class="filter">Only with <input type="search" size={16} value={find} onInput={e => setFind(e.currentTarget.value)} /></label>}
    <table role={choose ? 'grid' : undefined}>
      <caption>{caption}</caption>
      <thead><tr>{columns.map((c, k) =>
        !c.name ? <td /> : <th scope="col" class={numeric[k] ? 'number' : ''} aria-sort={by.column === k ? by.up ? 'ascending' : 'descending' : 'none'}>
          <button title={c.title} onClick={() => setBy({ column: k, up: by.column === k && !by.up })}>{c.name}{by.column === k ? by.up ? ' ▴' : ' ▾' : ''}</button>
        </th>)}</tr></thead>
      <tbody>{shown.map((r, i) =>
        <Fragment><tr class={`${choose ? 'choosable' : ''} ${i === at ? 'chosen' : ''}`} tabIndex={choose ? i === Math.max(at, 0) ? 0 : -1 : undefined} aria-selected={choose && i === at}
          onClick={choose && (() => choose(r))} onKeyDown={choose && ((k: KeyboardEvent) => { if (k.key === 'Enter') choose(r); else roving(k) })}>
          {columns.map((c, k) => {
            const v = c.value(r)
            return <td class={kinds[k]} title={v == null ? term(unknown) : undefined}>
              {c.bar && most[k] > 0 && <span class="bar" style={{ width: `${100 * Math.max(Number(v) || 0, 0) / most[k]}%` }} />}
              <span>{c.show ? c.show(r) : v ?? unknown}</span>
            </td>
          })}
        </tr>{detail && i === at && <tr class="detail"><td colSpan={columns.length}>{detail(r)}</td></tr>}</Fragment>)}</tbody>
    </table>
    {sorted.length > first && <button class="more" onClick={() => setAll(!all)}>{all ? 'Fewer' : `All ${count(sorted.length)} rows`}</button>}
    {more}
    <button class="csv" title="Comma-separated values of all rows, times in ns" onClick={() => copyCSV(columns, sorted).then(() => setCopied('Copied'), () => setCopied('The browser does not allow it'))}>Copy CSV</button> <span class="faint" role="status">{copied}</span>
    {(note || blank || columns.some(c => c.title)) && <details class="defs faint"><summary>What the columns mean</summary>
      {note && <p>{note}</p>}
      <dl>{columns.filter(c => c.title).map(c => <div><dt>{c.name}</dt><dd>{c.title}</dd></div>)}{blank && <div><dt>{unknown}</dt><dd>{term(unknown)}</dd></div>}</dl></details>}
  </div>
}
