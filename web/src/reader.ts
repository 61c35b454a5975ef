// Reading what package page in Go encodes.

import type { Collective, Messages } from './data'

// unpack returns what a part of the page holds: letters (base64) of what is deflated.
export async function unpack(text: string): Promise<Uint8Array> {
  const letters = atob(text), packed = new Uint8Array(letters.length)
  for (let i = 0; i < letters.length; i++) packed[i] = letters.charCodeAt(i) // many times as fast as Uint8Array.from
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

// signed returns the number that an unsigned one stands for: 0, -1, 1, -2 …
function signed(v: number): number { return v % 2 ? -(v + 1) / 2 : v / 2 }

// A Reader reads variable-length integers, base 128, the lowest seven bits first.
export class Reader {
  private at = 0
  constructor(private readonly bytes: Uint8Array) {}

  unsigned(): number {
    let b = this.bytes[this.at++], v = b & 127
    for (let scale = 128; b >= 128; scale *= 128) {
      b = this.bytes[this.at++]
      v += (b & 127) * scale
    }
    return v
  }

  signed(): number { return signed(this.unsigned()) }

  // fill reads as many as an array holds: millions, so the loop of unsigned stands here, with the position in a variable.
  fill<T extends Uint32Array | Float64Array>(out: T): T {
    const { bytes } = this
    let { at } = this
    for (let i = 0; i < out.length; i++) {
      let b = bytes[at++], v = b & 127
      for (let scale = 128; b >= 128; scale *= 128) {
        b = bytes[at++]
        v += (b & 127) * scale
      }
      out[i] = v
    }
    this.at = at
    return out
  }

  floats(n: number): Float32Array {
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.at, 4 * n)
    this.at += 4 * n
    return Float32Array.from({ length: n }, (_, i) => view.getFloat32(4 * i, true))
  }

  // rest returns a copy of the bytes that are not read yet.
  rest(): Uint8Array { return this.bytes.slice(this.at) }

  messages(): Messages {
    const n = this.unsigned(), numbers = () => this.fill(new Uint32Array(n)), times = () => this.fill(new Float64Array(n))
    const m: Messages = { from: numbers(), to: numbers(), sent: times(), done: times(), bytes: times(), comm: numbers(), tag: numbers() }
    for (let i = 0, last = 0; i < n; i++) {
      last = m.sent[i] = last + signed(m.sent[i])
      m.done[i] = last + signed(m.done[i])
    }
    return m
  }

  collectives(): Collective[] {
    let last = 0
    return Array.from({ length: this.unsigned() }, () => {
      const operation = this.unsigned(), first = this.unsigned()
      const c: Collective = { operation, first, last: first + this.unsigned(), latest: this.unsigned(), begin: last + this.signed(), latestBegin: 0, end: 0, comm: 0, members: 0, root: -1, sent: 0, received: 0 }
      c.latestBegin = c.begin + this.unsigned()
      c.end = c.begin + this.signed()
      last = c.begin
      c.comm = this.unsigned()
      c.members = this.unsigned()
      c.root = this.unsigned() - 1
      c.sent = this.unsigned()
      c.received = this.unsigned()
      return c
    })
  }
}
