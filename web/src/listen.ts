// Listening to events of an element until it is gone.

// Listeners are called for the events that they are named by.
type Listeners = { [K in keyof HTMLElementEventMap]?: (e: HTMLElementEventMap[K]) => void }

// listen adds listeners, which may prevent what the browser would do, and returns what removes them.
export function listen(e: HTMLElement, listeners: Listeners): () => void {
  const all = Object.entries(listeners) as [string, EventListener][]
  for (const [name, listener] of all) e.addEventListener(name, listener, { passive: false })
  return () => all.forEach(([name, listener]) => e.removeEventListener(name, listener))
}
