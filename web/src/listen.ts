// Listening to events until nobody wants them any more.

// listen adds listeners, by the events for which they are called. They may prevent what the browser would do. Returned is what removes them.
export function listen(e: EventTarget, listeners: Record<string, (e: any) => void>): () => void {
  for (const [name, listener] of Object.entries(listeners)) e.addEventListener(name, listener, { passive: false })
  return () => { for (const [name, listener] of Object.entries(listeners)) e.removeEventListener(name, listener) }
}
