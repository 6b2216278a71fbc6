/** Memory that is used again. */
interface Memory {
  /** Returns `size` bytes with any content. */
  take(size: number): Buffer
  /**
   * Gives back the memory of a buffer or of a part of it. Who does that says that nobody reads any part any more.
   * Without effect on memory from elsewhere, and on memory that was given back before.
   */
  give(bytes: Uint8Array): void
}

/** Bytes. Memory comes in multiples of this, so that pages of similar sizes share it. */
const UNIT = 32 * 1024

/** Bytes. Longer memory is allocated and collected as usual. */
const LONGEST = 256 * 1024

/** Bytes that wait to be used again. */
const MOST_FREE = 4 * 1024 * 1024

/**
 * Node allocates the bytes of buffers outside of V8's heap, but V8 counts them: about 8 MB between two small collections start a full one,
 * and the pages of a long list are more. What is never given back is collected like any other buffer.
 */
function createMemory(): Memory {
  const free: Buffer[][] = Array.from({ length: LONGEST / UNIT + 1 }, () => [])
  const lent = new WeakSet<ArrayBufferLike>()
  let freeBytes = 0
  return {
    take(size) {
      if (size > LONGEST) return Buffer.allocUnsafeSlow(size)
      const units = Math.ceil(size / UNIT)
      const known = free[units]?.pop()
      if (known) freeBytes -= known.length
      const memory = known ?? Buffer.allocUnsafeSlow(units * UNIT)
      lent.add(memory.buffer)
      return memory.subarray(0, size)
    },
    give({ buffer }) {
      if (!lent.delete(buffer) || freeBytes + buffer.byteLength > MOST_FREE) return
      freeBytes += buffer.byteLength
      free[buffer.byteLength / UNIT]?.push(Buffer.from(buffer))
    },
  }
}

/** For rows in v1's form. They are given back when a client has them. */
export const ROWS_MEMORY = createMemory()

/** For bytes of v2 as they arrive. They are given back when they are read. */
export const ARRIVED_MEMORY = createMemory()
