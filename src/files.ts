/**
 * What a person hands over is read within a bound: a file, a device that never ends, a pipe. Nothing else says where it ends.
 */
import { closeSync, constants, openSync, readSync, statSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { misuse, named } from './errors.ts'

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

/** Milliseconds in which somebody must open a named pipe to write to it. */
const PATIENCE_MS = 10_000

function unwritten(path: string): Error {
  return misuse(`${path} is a pipe to which nobody writes`)
}

/** Opens a file. The system would wait for ever for somebody who writes to a named pipe. What is written to it then has all its time. */
export async function opened(path: string, patienceMs = PATIENCE_MS): Promise<FileHandle> {
  const isPipe = (await stat(path)).isFIFO()
  const opening = open(path, 'r')
  if (!isPipe) return opening
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), patienceMs)
  })
  const file = await Promise.race([opening, late]).finally(() => clearTimeout(timer))
  if (file) return file
  // Whoever opens it to write ends the waiting at the other end.
  closeSync(openSync(path, O_WRONLY | O_NONBLOCK))
  await (await opening).close()
  throw unwritten(path)
}

/** Yields a file piece by piece. Rejects if it cannot be read; an error of the system names it. */
export async function* piecesOf(path: string): AsyncGenerator<Buffer> {
  try {
    yield* (await opened(path)).createReadStream() as AsyncIterable<Buffer>
  } catch (error) {
    throw named(error, path)
  }
}

/** Bytes of a configuration file, of a certificate, or of a file that holds a secret. */
const SMALL = 2 ** 20

/** What pipes have given, by their numbers in the system: a pipe gives it once, and settings are read again and again. */
const given = new Map<string, string>()

/** Reads a small file at once, as settings do. */
export function smallFile(path: string, patienceMs = PATIENCE_MS): string {
  const found = statSync(path)
  if (!found.isFIFO()) return readSmall(path, patienceMs, false)
  const number = `${path} ${found.dev} ${found.ino}`
  const text = given.get(number) ?? readSmall(path, patienceMs, true)
  given.set(number, text)
  return text
}

function readSmall(path: string, patienceMs: number, isPipe: boolean): string {
  const file = openSync(path, isPipe ? O_RDONLY | O_NONBLOCK : O_RDONLY)
  try {
    const bytes = Buffer.alloc(SMALL + 1)
    let length = isPipe ? firstOf(path, file, bytes, patienceMs) : 0
    for (let read = -1; read !== 0 && length <= SMALL; length += read) read = readOnce(file, bytes, length)
    if (length > SMALL) throw tooLong(SMALL)
    return bytes.toString('utf8', 0, length)
  } finally {
    closeSync(file)
  }
}

/** Waits for the first bytes of a pipe. It is at its end as long as nobody has opened it to write. */
function firstOf(path: string, file: number, bytes: Buffer, patienceMs: number): number {
  for (const until = performance.now() + patienceMs; ; sleep()) {
    const length = readOnce(file, bytes, 0)
    if (length > 0) return length
    if (performance.now() >= until) throw unwritten(path)
  }
}

/** Reads what is there; waits for it if somebody has opened the pipe to write. */
function readOnce(file: number, bytes: Buffer, from: number): number {
  for (;;) {
    try {
      return readSync(file, bytes, from, bytes.length - from, null)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      sleep()
    }
  }
}

const NEVER = new Int32Array(new SharedArrayBuffer(4))

/** Nothing else can be done before a file of settings is read. */
function sleep(): void {
  Atomics.wait(NEVER, 0, 0, 20)
}

/** Reads a file whole. Rejects if it has more bytes than `most`; an error of the system names the file. */
export async function fileWithin(path: string, most: number): Promise<Buffer> {
  try {
    return await allOf(piecesOf(path), most)
  } catch (error) {
    throw isTooLong(error) ? misuse(`${path} has more than ${most} bytes`) : error
  }
}

/** Decodes what comes, piece by piece. */
export async function* textOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const piece of bytes) {
    const text = decoder.decode(piece, { stream: true })
    if (text !== '') yield text
  }
  const rest = decoder.decode()
  if (rest !== '') yield rest
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
