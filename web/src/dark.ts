// Whether the page is dark. What is printed never is.

import { useEffect, useState } from 'preact/hooks'

const wanted = matchMedia('(prefers-color-scheme: dark)')

// Printing is true while the browser takes what it prints, for which it draws no frame.
export let printing = false

export function useDark(): boolean {
  const [dark, setDark] = useState(wanted.matches && !printing)
  useEffect(() => {
    const set = () => setDark(wanted.matches && !printing)
    const before = () => { printing = true; set() }, after = () => { printing = false; set() }
    wanted.addEventListener('change', set)
    addEventListener('beforeprint', before)
    addEventListener('afterprint', after)
    set() // it may have changed since
    return () => {
      wanted.removeEventListener('change', set)
      removeEventListener('beforeprint', before)
      removeEventListener('afterprint', after)
    }
  }, [])
  return dark
}
