import { LONGEST_VARINT, widthOf } from './varint-width.ts'

/** The bytes that a writer keeps between messages, and those that it begins with. */
const [KEPT, FIRST] = [1 << 20, 1 << 16]

/** Texts up to this length are written letter by letter, which is faster than a call of Node's encoder. */
const SHORT = 40

/**
 * Writes the primitive values of protobuf into one growing buffer. Its fields are public within the encoder, because every byte passes
 * here. A class, because V8 then knows its shape.
 */
export class ByteWriter {
  #bytes = Buffer.allocUnsafeSlow(FIRST)
  #end = 0

  /** Forgets what was written, and a buffer that a large message needed. */
  begin(): void {
    if (this.#bytes.length > KEPT) this.#bytes = Buffer.allocUnsafeSlow(FIRST)
    this.#end = 0
  }

  /** Returns a copy of what was written since `begin`. */
  take(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#end))
  }

  /** Writes an unsigned number below 2^53. */
  varint(value: number): void {
    this.#room(LONGEST_VARINT)
    let rest = value
    for (; rest > 0x7f_ff_ff_ff; rest = Math.floor(rest / 0x80)) this.#bytes[this.#end++] = (rest % 0x80) | 0x80
    for (; rest > 0x7f; rest >>>= 7) this.#bytes[this.#end++] = (rest & 0x7f) | 0x80
    this.#bytes[this.#end++] = rest
  }

  /** Writes a 64-bit number in two's complement. */
  long(value: bigint): void {
    this.#room(LONGEST_VARINT)
    let rest = BigInt.asUintN(64, value)
    for (; rest > 0x7fn; rest >>= 7n) this.#bytes[this.#end++] = Number(rest & 0x7fn) | 0x80
    this.#bytes[this.#end++] = Number(rest)
  }

  /** Writes a text with its length before it. */
  text(text: string): void {
    const { length } = text
    if (length <= SHORT && this.#ascii(text, length)) return
    this.#room(length * 3 + LONGEST_VARINT)
    const width = widthOf(length)
    const start = this.#end + width
    const written = this.#bytes.write(text, start)
    this.#settle(start, width, written)
  }

  /** Writes bytes with their length before them. */
  bytes(bytes: Uint8Array): void {
    this.varint(bytes.length)
    this.raw(bytes)
  }

  /** Writes bytes as they are. */
  raw(bytes: Uint8Array): void {
    this.#room(bytes.length)
    this.#bytes.set(bytes, this.#end)
    this.#end += bytes.length
  }

  /** Begins a part whose length stands before it: `width` bytes are left for that. Returns the place of its first byte. */
  open(width: number): number {
    this.#room(width)
    this.#end += width
    return this.#end
  }

  /** Ends the part that began at `start`. Returns the number of bytes that its length took. */
  close(start: number, width: number): number {
    return this.#settle(start, width, this.#end - start)
  }

  #settle(start: number, width: number, length: number): number {
    const needed = widthOf(length)
    if (needed !== width) {
      this.#room(LONGEST_VARINT + length)
      this.#bytes.copyWithin(start - width + needed, start, start + length)
    }
    this.#end = start - width
    this.varint(length)
    this.#end += length
    return needed
  }

  /** Writes a short text if all its letters are ASCII. */
  #ascii(text: string, length: number): boolean {
    this.#room(length + 1)
    const bytes = this.#bytes
    let at = this.#end
    bytes[at++] = length
    for (let index = 0; index < length; index += 1) {
      const letter = text.charCodeAt(index)
      if (letter > 0x7f) return false
      bytes[at++] = letter
    }
    this.#end = at
    return true
  }

  #room(more: number): void {
    const needed = this.#end + more
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    larger.set(this.#bytes.subarray(0, this.#end))
    this.#bytes = larger
  }
}
