// Iterations on the ruler of the timeline.

export interface Phase { number: number; from: number; to: number; outlier: boolean }

// phasesOf returns the phases of a document in the timeline's time.
export function phasesOf(doc: any): Phase[] {
  return (doc.phases?.rows ?? []).map((r: any): Phase => ({ number: r.phase, from: r.from_ns - doc.trace.start_ns, to: r.to_ns - doc.trace.start_ns, outlier: r.outlier }))
}

// drawPhases draws a band of alternating shades, those unlike the others in a color of their own,
// and where there is room a line at each begin. At is the place of a time, [left, right] and [top,
// bottom] are the plot.
export function drawPhases(c: CanvasRenderingContext2D, phases: Phase[], at: (t: number) => number, [left, right]: number[], [top, bottom]: number[], dark: boolean) {
  const seen = phases.filter(p => at(p.to) > left && at(p.from) < right)
  const lines = seen.length <= (right - left) / 12
  for (const p of seen) {
    const x0 = Math.max(at(p.from), left), x1 = Math.min(at(p.to), right)
    c.fillStyle = p.outlier ? dark ? '#ffbf80' : '#c04a00' : p.number % 2 ? dark ? '#8a97a5' : '#6b7783' : dark ? '#39424d' : '#c3ccd4'
    c.fillRect(x0, top - 3, Math.max(x1 - x0, p.outlier ? 1 : 0), 3)
    if (!lines || at(p.from) < left) continue
    c.fillStyle = dark ? '#ffffff50' : '#00000040'
    c.fillRect(Math.round(at(p.from)), top, 1, bottom - top)
  }
}
