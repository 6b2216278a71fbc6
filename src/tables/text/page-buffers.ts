/** Buffers are made in these steps of bytes, so that pages of about one length share them. */
const STEP = 16 * 1024

/** The number of free buffers that are kept, and the most bytes of one. A page of 200 rows takes about 64 KiB. */
const KEPT = 16
const LARGEST = 256 * 1024

const free: ArrayBufferLike[] = []
/** What was taken and not given back. It holds nothing alive: the collector takes a buffer that is never given back. */
const taken = new WeakSet<ArrayBufferLike>()

/**
 * Returns a buffer of so many bytes with any content. New memory for each page would cost more than the page: it is never in the
 * processor's cache, and the collector runs as often as pages fill it.
 */
export function takeBuffer(length: number): Buffer {
  const at = free.findLastIndex(({ byteLength }) => byteLength >= length)
  const [known] = at < 0 ? [] : free.splice(at, 1)
  const memory = known ?? Buffer.allocUnsafeSlow(Math.ceil(length / STEP) * STEP).buffer
  taken.add(memory)
  return Buffer.from(memory, 0, length)
}

/** Takes a buffer, or a part of it, back for the next page. Only who alone has it may call this, after the last byte was read. */
export function giveBack({ buffer }: Buffer): void {
  if (taken.delete(buffer) && free.length < KEPT && buffer.byteLength <= LARGEST) free.push(buffer)
}
