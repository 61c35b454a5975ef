// roving lets arrow keys go through the elements of a list, which are one tab stop: it handles keys of an element.
export function roving(e: KeyboardEvent) {
  const way = e.key === 'ArrowDown' ? 'nextElementSibling' : e.key === 'ArrowUp' ? 'previousElementSibling' : null, now = e.currentTarget as HTMLElement
  if (!way) return
  let next = now[way] as HTMLElement | null
  while (next && !next.hasAttribute('tabindex')) next = next[way] as HTMLElement | null
  e.preventDefault()
  if (!next) return
  now.tabIndex = -1
  next.tabIndex = 0
  next.focus()
}
