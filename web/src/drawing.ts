import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { printing } from './dark'

// useDrawing draws a canvas anew in the frame after anything has changed, or its size.
export function useDrawing(element: RefObject<HTMLCanvasElement | null>, draw: () => void) {
  const latest = useRef(draw)
  latest.current = () => { if (element.current) draw() } // it may have gone
  useEffect(() => {
    const watch = new ResizeObserver(() => latest.current())
    watch.observe(element.current!)
    return () => watch.disconnect()
  }, [])
  useLayoutEffect(() => {
    if (printing) return latest.current()
    const id = requestAnimationFrame(() => latest.current())
    return () => cancelAnimationFrame(id)
  })
}
