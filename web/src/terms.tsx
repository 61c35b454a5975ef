// The words of the page. What they mean is said in one place, which is not here: the page is
// given it.

import { h } from 'preact'
import type { Term } from './more'
import type { SectionProps } from './sections'
import { more } from './more'

let words = new Map<string, Term>()

export function setTerms(list: Term[]) { words = new Map(list.map(t => [t.word, t])) }

// term returns what a word means.
export function term(word: string): string {
  const t = words.get(word)
  return t ? t.section ? `${t.meaning} (DEFINITIONS ${t.section})` : t.meaning : ''
}

export function Terms({ doc }: SectionProps) {
  return <dl>{(more(doc).terms ?? []).map(t => <div><dt>{t.word}</dt><dd>{t.meaning}{t.section && <span class="faint"> DEFINITIONS {t.section}</span>}</dd></div>)}</dl>
}
