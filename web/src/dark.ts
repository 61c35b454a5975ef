// Whether the page is dark. What is printed never is.

import { useEffect, useState } from 'preact/hooks'
import { listen } from './listen'

const wanted = matchMedia('(prefers-color-scheme: dark)')

// Printing is true while the browser takes what it prints, for which it draws no frame.
export let printing = false

export function useDark(): boolean {
  const [dark, setDark] = useState(wanted.matches && !printing)
  useEffect(() => {
    const set = () => setDark(wanted.matches && !printing)
    const before = () => { printing = true; set() }, after = () => { printing = false; set() }
    const stops = [listen(wanted, { change: set }), listen(window, { beforeprint: before, afterprint: after })]
    set() // it may have changed since
    return () => stops.forEach(stop => stop())
  }, [])
  return dark
}
