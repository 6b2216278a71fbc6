import type { ByteWriter } from './byte-writer.ts'
import { DELIMITED } from './wire-scalar.ts'

/**
 * Returns what writes a message within a message from its source: the tag, the length and what `encode` writes. The length takes as many bytes as
 * that of the last one, most often.
 */
export function partWriter<T>(number: number, encode: (writer: ByteWriter, source: T) => void): (writer: ByteWriter, source: T) => void {
  const tag = number * 8 + DELIMITED
  let width = 1
  return (writer, source) => {
    writer.varint(tag)
    const start = writer.open(width)
    encode(writer, source)
    width = writer.close(start, width)
  }
}
