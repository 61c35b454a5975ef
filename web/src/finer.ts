// What is asked from a server while the page is looked at.

import { useEffect, useState } from 'preact/hooks'

// useFiner asks for what is shown, and for half as much on both sides, so that moving shows something at once; again where that is
// left, or is much more than what is shown. It returns the answer if it holds all that is shown. Of is what it is of; ask is null if
// nothing finer is needed.
export function useFiner<T extends { from: number; to: number }>(ask: ((from: number, to: number, stop: AbortSignal) => Promise<T>) | null, view: { from: number; to: number }, length: number, of: unknown): T | null {
  const [got, setGot] = useState<{ of: unknown; what: T } | null>(null), span = view.to - view.from
  const first = Math.max(view.from, 0), last = Math.min(view.to, length), fine = got?.of === of ? got!.what : null, fits = fine !== null && fine.from <= first && last <= fine.to
  useEffect(() => {
    if (!ask || last <= first || fits && fine.to - fine.from < 4 * span) return
    const stop = new AbortController()
    const id = setTimeout(() => ask(Math.max(view.from - span / 2, 0), Math.min(view.to + span / 2, length), stop.signal).then(what => setGot({ of, what }), err => { if (!stop.signal.aborted) console.error(err) }), 60)
    return () => { clearTimeout(id); stop.abort() }
  }, [of, view.from, view.to, got])
  return fits ? fine : null
}
