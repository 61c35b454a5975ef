// What all ranks, the path of messages, a sample and rules say of each call path, side by side.

import { h, Fragment } from 'preact'
import { Tables } from './described'
import { more } from './more'
import type { SectionProps } from './sections'

export function Views({ doc }: SectionProps) {
  const { sampled, rules } = more(doc).views!
  return <Fragment>
    <p>{[sampled && `Sampled with ${sampled}`, rules.length > 0 && `Kept by ${rules.join(' and ')}`].filter(Boolean).join('. ')}.</p>
    <Tables doc={doc} tab="views" />
  </Fragment>
}
