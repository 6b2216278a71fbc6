/**
 * What a person hands over is read within a bound: a file, a device that never ends, a pipe. Nothing else says where it ends.
 */
import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { misuse, named } from './errors.ts'

/** Bytes of a configuration file, of a certificate, or of a file that holds a secret. */
const SMALL = 2 ** 20

/** Reads a small file at once, as settings do. */
export function smallFile(path: string): string {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(SMALL + 1)
    let length = 0
    for (let read = -1; read !== 0 && length <= SMALL; length += read) read = readSync(file, bytes, length, bytes.length - length, null)
    if (length > SMALL) throw tooLong(SMALL)
    return bytes.toString('utf8', 0, length)
  } finally {
    closeSync(file)
  }
}

/** Reads a file whole. Rejects if it has more bytes than `most`; an error of the system names the file. */
export async function fileWithin(path: string, most: number): Promise<Buffer> {
  try {
    return await allOf(createReadStream(path, { end: most }), most)
  } catch (error) {
    if (isTooLong(error)) throw misuse(`${path} has more than ${most} bytes`)
    throw named(error, path)
  }
}

/** Reads all that comes. Rejects if that is more than `most` bytes. */
export async function allOf(pieces: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  const read: Uint8Array[] = []
  let length = 0
  for await (const piece of pieces) {
    length += piece.length
    if (length > most) throw tooLong(most)
    read.push(piece)
  }
  return Buffer.concat(read)
}

/** What is read of a file of lines before one of them must make sense. */
const HOPELESS = 16 * 2 ** 20

/** Passes on a file of lines, which may be larger than memory. Ends it if nothing in its beginning makes sense: a device never ends. */
export async function* untilHopeless<T extends { readonly length: number }>(
  pieces: AsyncIterable<T>,
  hasFound: () => boolean,
  problem: string,
): AsyncGenerator<T> {
  let length = 0
  for await (const piece of pieces) {
    yield piece
    length += piece.length
    if (length > HOPELESS && !hasFound()) throw misuse(`${problem} in its first ${HOPELESS} bytes`)
  }
}

/**
 * Returns the offset of the first bracket of JSON that is deeper than `most` levels: parsers and writers call themselves for each, and would
 * overflow the stack at some thousands. A bracket in a text counts as well, unless another closes it.
 */
export function tooDeep(text: string, most: number): number | undefined {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at]
    if (letter === '[' || letter === '{') depth += 1
    else if (letter === ']' || letter === '}') depth -= 1
    if (depth > most) return at
  }
  return undefined
}

class TooLong extends Error {}

function tooLong(most: number): TooLong {
  return new TooLong(`it has more than ${most} bytes`)
}

function isTooLong(error: unknown): error is TooLong {
  return error instanceof TooLong
}
