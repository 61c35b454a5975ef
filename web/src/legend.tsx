// What the timeline's colors mean.

import { h, Fragment, type ComponentChildren } from 'preact'
import type { Look } from './model'
import { count, together, share } from './units'

// shown is how many looks of a class are shown, classesShown how many classes.
const shown = 3, classesShown = 10

// least is the share of the time below which a class is left out.
const least = 0.0005

// Legend shows class after class, with its share of the time that is recorded, and in each what takes most. Find shows one alone.
export function Legend({ looks, search, find, children }: { looks: Look[]; search: string; find?: (name: string) => void; children: ComponentChildren }) {
  const sum = (all: Look[]) => all.reduce((s, l) => s + l.share, 0)
  const order = [...together(looks, l => l.of)].map(([name, all]) => ({ name, all, share: sum(all) })).sort((a, b) => b.share - a.share).filter(c => c.share >= least).slice(0, classesShown)
  return <ul class="legend">{order.map(c => <li>
    <span class="faint">{c.all.length > 1 || c.all[0].name !== c.name ? c.name : ''} {share(c.share)}</span>
    {c.all.slice(0, shown).map(l => {
      const name = l.name.replace(/#…$/, '#'), what = <Fragment><span class="swatch" style={{ background: l.color }} />{l.name}</Fragment>
      return find && l.name !== 'waiting' ? <button class="plain" aria-pressed={search === name} title={`Show ${l.name} alone: ${share(l.share)}`} onClick={() => find(name)}>{what}</button> : <span title={share(l.share)}>{what}</span>
    })}
    {c.all.length > shown && <span class="faint">+ {count(c.all.length - shown)}</span>}</li>)}{children}</ul>
}
