import { createReadStream } from 'node:fs'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { named } from '../../errors.ts'

/** Where traffic comes from. */
export interface TrafficSource {
  /** The path of a file, or what to call the source. */
  readonly name: string
  /** The bytes, if they are not those of the file. */
  readonly bytes?: AsyncIterable<Uint8Array> | undefined
}

/** Recorded traffic as text, of which the beginning is known. */
export interface TrafficInput {
  readonly name: string
  readonly beginning: string
  /** Yields the whole text, from its beginning, in pieces. */
  readonly pieces: AsyncIterable<string>
  /** Closes what is not read. */
  close(): Promise<void>
}

/** Characters that are enough to recognize the format. */
const BEGINNING = 64 * 1024

/** Opens traffic and unpacks gzip, also of several parts in a row. Rejects if it cannot be read. */
export async function openTraffic({ name, bytes }: TrafficSource): Promise<TrafficInput> {
  const whole = textOf(unpacked(name, bytes ?? bytesOf(name)))
  const read: string[] = []
  for (let length = 0; length < BEGINNING; length += read.at(-1)?.length ?? 0) {
    const { value, done } = await whole.next()
    if (done) break
    read.push(value)
  }
  async function* pieces(): AsyncGenerator<string> {
    yield* read
    yield* whole
  }
  return { name, beginning: read.join(''), pieces: pieces(), close: async () => void (await whole.return(undefined)) }
}

async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path) as AsyncIterable<Uint8Array>
  } catch (error) {
    throw named(error, path)
  }
}

async function* textOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const piece of bytes) {
    const text = decoder.decode(piece, { stream: true })
    if (text !== '') yield text
  }
  const rest = decoder.decode()
  if (rest !== '') yield rest
}

/** The first bytes tell gzip, whatever the file is called. */
async function* unpacked(name: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]()
  const first: Uint8Array[] = []
  while (first.reduce((sum, { length }) => sum + length, 0) < 2) {
    const { value, done } = await iterator.next()
    if (done) break
    first.push(value)
  }
  async function* whole(): AsyncGenerator<Uint8Array> {
    try {
      yield* first
      yield* { [Symbol.asyncIterator]: () => iterator }
    } finally {
      await iterator.return?.()
    }
  }
  const [one, two] = Buffer.concat(first)
  if (one !== 0x1f || two !== 0x8b) return yield* whole()
  // The error reaches the reader of the last stream.
  const gunzip = pipeline(Readable.from(whole(), { objectMode: false }), createGunzip(), () => {})
  try {
    yield* gunzip as AsyncIterable<Uint8Array>
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw code.startsWith('Z_') ? new Error(`${name} is gzip, but not whole: its end is missing or damaged.`) : error
  }
}

/** Maximum characters of a line. V8 records every character that a quoted group matches, and runs out of space at ten million. */
const LONGEST = 1_000_000

/** Yields the lines of a text, without their ends. A line that is too long is cut, so that it cannot be read. */
export async function* linesIn(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const piece of pieces) {
    const [first = '', ...others] = piece.split('\n')
    const lines = [cut(rest + first), ...others.map(cut)]
    rest = lines.pop() ?? ''
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line
  }
  if (rest !== '') yield rest
}

function cut(line: string): string {
  return line.length > LONGEST ? line.slice(0, LONGEST) : line
}
