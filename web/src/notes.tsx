// Notes on times, which travel in the address, and pictures of what is seen.

import { h } from 'preact'
import { instant } from './units'
import type { Note, View } from './view'

// Notes lists the notes in order of time.
export function Notes({ view, change }: { view: View; change: (v: Partial<View>) => void }) {
  const put = (notes: Note[]) => change({ notes: notes.sort((a, b) => a.at - b.at) }), span = view.to - view.from
  if (!view.notes.length) return null
  return <ul class="notes" aria-label="Notes">{view.notes.map((n, k) => <li>
    <button title="Show this time" onClick={() => change({ from: Math.max(n.at - span / 2, 0), to: Math.max(n.at - span / 2, 0) + span })}>⚑ {instant(n.at, span / 100, n.at)}</button>
    <input aria-label={`Note at ${instant(n.at, span / 100, n.at)}`} size={32} maxLength={200} value={n.text} placeholder="what is here" onInput={e => put(view.notes.map((o, i) => i === k ? { ...o, text: e.currentTarget.value } : o))} />
    <button aria-label="Remove the note" onClick={() => put(view.notes.filter((_, i) => i !== k))}>×</button></li>)}</ul>
}

// noteIn returns a note in the middle of what is selected, or seen.
export function noteIn({ select, from, to }: View): Note {
  const [a, b] = select ?? [from, to]
  return { at: Math.round((a + b) / 2), text: '' }
}

// save offers a file.
function save(data: Blob, name: string) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(data)
  link.download = name.replace(/[^\w.-]+/g, '_')
  link.click()
  URL.revokeObjectURL(link.href)
}

export function saveDrawing(svg: string, name: string) { save(new Blob([svg], { type: 'image/svg+xml' }), `${name}.svg`) }

// savePicture saves the timeline as it is seen as a PNG file.
export function savePicture(canvas: HTMLCanvasElement, name: string) {
  const copy = document.createElement('canvas'), c = copy.getContext('2d')!
  copy.width = canvas.width
  copy.height = canvas.height
  c.fillStyle = getComputedStyle(canvas).backgroundColor
  c.fillRect(0, 0, copy.width, copy.height)
  c.drawImage(canvas, 0, 0)
  copy.toBlob(blob => { if (blob) save(blob, `${name}.png`) }, 'image/png')
}
