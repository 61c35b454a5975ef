// Regions found by name, and the way from visit to visit of what is in color.

import { h, Fragment } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import type { Model } from './model'
import { count, share } from './units'
import type { View } from './view'

interface Props { model: Model; view: View; change: (v: Partial<View>) => void; order: number[]; lit: Uint8Array | null; length: number }

// listed is how many regions are listed.
const listed = 8

export function Find({ model, view, change, order, lit, length }: Props) {
  const at = useRef(-1) // the visit that was gone to, ns
  const visits = useMemo(() => lit && view.place < 0 ? model.visits(lit, order) : null, [model, lit, order, view.place < 0])
  const seek = (search: string) => change({ search, path: -1, place: -1 })
  // go moves to the visit that begins next, or before.
  const go = (way: 1 | -1) => {
    if (!visits?.length) return
    const inView = view.from <= at.current && at.current <= view.to, than = inView ? at.current : way > 0 ? view.from - 1 : view.to
    const k = way > 0 ? visits.findIndex(t => t > than) : visits.findLastIndex(t => t < than)
    if (k < 0) return
    const span = view.to - view.from, from = Math.min(Math.max(visits[k] - span / 2, 0), Math.max(length - span, 0))
    at.current = visits[k]
    change({ from, to: from + span })
  }
  const k = visits ? visits.indexOf(at.current) : -1
  const regions = useMemo(() => model.regionTimes(), [model])
  const q = view.search.toLowerCase(), all = q ? regions.filter(r => r.name.toLowerCase().includes(q)) : [], exact = all.length === 1 || all.some(r => r.name === view.search)
  return <Fragment>
    <span class="finding"><label>Find <input type="search" size={12} value={view.search} placeholder="region" title="Enter: the next visit, Shift+Enter: the one before" onInput={e => seek(e.currentTarget.value)}
      onKeyDown={e => { if (e.key === 'Enter') go(e.shiftKey ? -1 : 1) }} /></label>
    <span class="keys"><button aria-label="Visit before" disabled={!visits?.length} onClick={() => go(-1)}>◂</button><button aria-label="Next visit" disabled={!visits?.length} onClick={() => go(1)}>▸</button>
      <span class="visits faint" role="status">{q && !all.length ? 'no such region' : visits && `${k < 0 ? '' : `${count(k + 1)} of `}${count(visits.length)} ${visits.length === 1 ? 'visit' : 'visits'}`}</span></span></span>
    {all.length > 1 && !exact && <ul class="found" aria-label={`${count(all.length)} regions found`}>{all.slice(0, listed).map(r => <li><button onClick={() => seek(r.name)}>{r.name} <span class="faint">{share(r.share)}</span></button></li>)}
      {all.length > listed && <li class="faint">and {count(all.length - listed)} more</li>}</ul>}
  </Fragment>
}
