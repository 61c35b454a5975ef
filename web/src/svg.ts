// What is drawn on a canvas as SVG: the part of a canvas's drawing that the timeline uses.

// mostRects is how many rectangles a picture's bars may take; of more they are a picture of pixels.
const mostRects = 40000

const escaped = (text: string) => text.replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`)
const end = (tag: string) => `</${tag}>` // written so, no closing tag is part of the program, which stands in an element
const round = (v: number) => Math.round(v * 100) / 100

// An Svg takes what a canvas of a size takes; another canvas measures texts.
export class Svg {
  fillStyle = ''; strokeStyle = ''; font = ''; lineWidth = 1; globalAlpha = 1
  textAlign: CanvasTextAlign = 'left'; textBaseline: CanvasTextBaseline = 'alphabetic'
  private readonly out: string[] = []
  private path = ''
  private clips = 0
  private rects = 0
  constructor(private readonly width: number, private readonly height: number, private readonly scale: number, private readonly measure: CanvasRenderingContext2D) {}

  setTransform() {} // it changes only between pixels of the screen, in which putImageData is given, and those of the page
  clearRect(x: number, y: number, w: number, h: number) { if (this.out.length) this.rect0(x, y, w, h, 'var(--ground)', 1) }
  fillRect(x: number, y: number, w: number, h: number) { this.rect0(x, y, w, h, this.fillStyle, this.globalAlpha) }
  measureText(text: string) { this.measure.font = this.font; return this.measure.measureText(text) }
  beginPath() { this.path = '' }
  moveTo(x: number, y: number) { this.path += `M${round(x)} ${round(y)}` }
  lineTo(x: number, y: number) { this.path += `L${round(x)} ${round(y)}` }
  closePath() { this.path += 'Z' }
  rect(x: number, y: number, w: number, h: number) { this.path += `M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}Z` }
  arc(x: number, y: number, r: number) { this.path += `M${round(x - r)} ${round(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z` }
  fill() { this.out.push(`<path d="${this.path}" fill="${this.fillStyle}" opacity="${this.globalAlpha}"/>`) }
  stroke() { this.out.push(`<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}" opacity="${this.globalAlpha}"/>`) }
  save() {}
  clip() { this.out.push(`<clipPath id="c${++this.clips}"><path d="${this.path}"/></clipPath><g clip-path="url(#c${this.clips})">`) }
  restore() { this.out.push('</g>') }

  fillText(text: string, x: number, y: number) {
    const anchor = { left: 'start', right: 'end', center: 'middle' }[this.textAlign as 'left' | 'right' | 'center'], bold = this.font.startsWith('bold') ? ' font-weight="bold"' : ''
    this.out.push(`<text x="${round(x)}" y="${round(y)}" font-size="${parseFloat(this.font.replace(/^bold /, ''))}"${bold} fill="${this.fillStyle}" text-anchor="${anchor}" dominant-baseline="central">${escaped(text)}</text>`)
  }

  // putImageData makes rectangles of what has one color, across and down.
  putImageData(image: ImageData, x0: number, y0: number) {
    const { width: w, height: h } = image, px = new Uint32Array(image.data.buffer), all: string[] = [], s = this.scale
    const alike = (a: number, b: number) => { for (let x = 0; x < w; x++) if (px[a * w + x] !== px[b * w + x]) return false; return true }
    for (let y = 0, next = 0; y < h; y = next) {
      for (next = y + 1; next < h && alike(y, next); ) next++
      for (let x = 0, end = 0; x < w; x = end) {
        const v = px[y * w + x]
        for (end = x + 1; end < w && px[y * w + end] === v;) end++
        if (v >>> 24) all.push(`<rect x="${round((x0 + x) / s)}" y="${round((y0 + y) / s)}" width="${round((end - x) / s)}" height="${round((next - y) / s)}" fill="rgb(${v & 255},${v >> 8 & 255},${v >> 16 & 255})"${v >>> 24 < 255 ? ` fill-opacity="${round((v >>> 24) / 255)}"` : ''}/>`)
      }
    }
    if ((this.rects += all.length) <= mostRects) { this.out.push(`<g shape-rendering="crispEdges">${all.join('')}</g>`); return }
    const copy = document.createElement('canvas')
    copy.width = w
    copy.height = h
    copy.getContext('2d')!.putImageData(image, 0, 0)
    this.out.push(`<image x="${round(x0 / s)}" y="${round(y0 / s)}" width="${round(w / s)}" height="${round(h / s)}" href="${copy.toDataURL()}"/>`)
  }

  private rect0(x: number, y: number, w: number, h: number, fill: string, opacity: number) {
    if (w > 0 && h > 0) this.out.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" fill="${fill}"${opacity < 1 ? ` opacity="${opacity}"` : ''}/>`)
  }

  // text returns the whole picture, on a ground of a color.
  text(ground: string): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}" font-family="system-ui, sans-serif">` +
      `<rect width="100%" height="100%" fill="${ground}"/>${this.out.join('\n').replaceAll('var(--ground)', ground)}${end('svg')}\n`
  }
}
