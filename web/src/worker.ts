// A thread beside the page's own, which unpacks the timeline's numbers: most of what a page holds.

import { buffers, decode } from './numbers'
import { unpack } from './reader'

onmessage = async ({ data: { text, length, steps } }) => {
  try {
    const numbers = decode(await unpack(text), length, steps)
    postMessage(numbers, { transfer: buffers(numbers) })
  } catch { postMessage(null) } // the page's thread meets the same error, and says it
}
