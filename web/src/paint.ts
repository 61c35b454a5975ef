// Colors of classes for the style sheet: those of the palette that the page has, of which the canvas is drawn as well.

import type { Class } from './data'

// paint gives the style sheet the first color of each class, by its key: var(--waiting).
export function paint(palette: Class[], dark: boolean): void {
  for (const c of palette) document.documentElement.style.setProperty(`--${c.key}`, c[dark ? 'dark' : 'light'][0])
}
