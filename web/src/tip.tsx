import { h, type ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

// Tip tells about a place of what it is drawn over, px; it stands where the window has room for it.
export function Tip({ x, y, children }: { x: number; y: number; children: ComponentChildren }) {
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const e = element.current!, around = e.offsetParent!.getBoundingClientRect(), w = e.offsetWidth, h = e.offsetHeight
    const right = Math.min(around.right, document.documentElement.clientWidth) - around.left
    const above = around.top + y + 16 + h > innerHeight && around.top + y - 8 - h > 0
    e.style.left = `${Math.max(x + 14 + w > right ? Math.min(x - 14 - w, right - w) : x + 14, Math.min(0, right - w))}px`
    e.style.top = `${above ? y - 8 - h : y + 16}px`
  })
  return <div class="tooltip" ref={element}>{children}</div>
}
