import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { misuse } from '../../errors.ts'
import { piecesOf, textOf, untilHopeless } from '../../files.ts'
import { readFacts, routeOf } from '../../grpc/facts.ts'
import type { SampledKind } from '../../migrate/clients.ts'
import { LONGEST, linesOf } from '../../migrate/records/record-file.ts'
import { pathOf } from '../../serve/classify.ts'
import type { Mapping } from '../../tables/operation.ts'
import { operationsOf } from '../../tables/tables.ts'
import { rulesOf } from '../guide-request.ts'
import { type ArchiveReader, formatsText, type LineReader, readHar, recognized } from './formats.ts'

/** What is known of the time and the client of a request. */
interface Circumstances {
  /** Milliseconds since 1970. */
  readonly at?: number
  /** The file's name for the client: a hash, a user name or an address, never a credential. */
  readonly client?: string
}

/** A request as it was sent. */
export interface RecordedRequest extends Circumstances {
  readonly method: string
  /** Path and query, still encoded. */
  readonly url: string
  /** The headers by which v1 routes. If they were not recorded, they are inferred from the answer. */
  readonly headers: { readonly 'content-type'?: string; readonly 'x-http-method-override'?: string }
  /** Text of the body. */
  readonly body?: string
  /** HTTP status of v1's answer, if it was recorded. */
  readonly status?: number
}

/** Requests of which only the operation, or their shape, was recorded. */
export interface Counted extends Circumstances {
  readonly operation: string
  /** As `shapeOf` writes it; absent if it is unknown. */
  readonly shape?: string
  readonly times: number
  /** The kinds of requests among those that the proxy looked at. */
  readonly requests?: readonly SampledKind[]
}

/** One or several like requests of recorded traffic. */
export type Item = RecordedRequest | Counted

/** `json` and `nginx` are described by flags. */
export type Format = 'har' | 'records' | 'access-log' | 'envoy' | 'alb' | 'traefik' | 'kong' | 'envoy-json' | 'json' | 'nginx'

/** Recorded traffic, item by item. */
export interface Traffic {
  readonly format: Format
  readonly items: AsyncIterable<Item>
  /** Lines or entries that could not be read; complete once `items` has ended. */
  readonly unreadable: () => number
  /** The numbers of the first such lines, from 1. */
  readonly unreadableLines: () => readonly number[]
}

/**
 * Returns what turns a recorded call of a v1 gRPC method into a count of its operation. Every other item stays as it is.
 * A message is not text, so that logs and archives do not have it: such a call has no shape.
 */
export function createCountedCalls(mappings: readonly Mapping[]): (item: Item) => Item {
  const byRoute = new Map(operationsOf({ mappings }).map((operation) => [routeOf(operation), operation.id]))
  const operations = new Map(
    rulesOf(readFacts().v1).flatMap(({ name, rule }): [string, string][] => {
      const id = byRoute.get(routeOf(rule))
      return id === undefined ? [] : [[`/${name}`, id]]
    }),
  )
  return (item) => {
    const operation = 'operation' in item || item.method !== 'POST' ? undefined : operations.get(pathOf(item.url))
    if (operation === undefined) return item
    const { at, client } = item
    return { operation, times: 1, ...(at !== undefined && { at }), ...(client !== undefined && { client }) }
  }
}

/** Recorded traffic as text, of which the beginning is known. */
interface TrafficInput {
  readonly name: string
  readonly beginning: string
  /** Yields the whole text, from its beginning, in pieces. */
  readonly pieces: AsyncIterable<string>
  /** Closes what is not read. */
  close(): Promise<void>
}

/** Characters that are enough to recognize the format, if one of their lines is whole. */
const BEGINNING = 64 * 1024

/** Opens traffic and unpacks gzip, also of several parts in a row. Rejects if it cannot be read. */
export async function openTraffic(name: string, bytes: AsyncIterable<Uint8Array> = piecesOf(name)): Promise<TrafficInput> {
  const whole = textOf(unpacked(name, bytes))
  const read: string[] = []
  let hasLine = false
  for (let length = 0; length < (hasLine ? BEGINNING : LONGEST); length += read.at(-1)?.length ?? 0) {
    const { value, done } = await whole.next()
    if (done) break
    read.push(value)
    hasLine ||= value.includes('\n')
  }
  async function* pieces(): AsyncGenerator<string> {
    yield* read
    yield* whole
  }
  return { name, beginning: read.join(''), pieces: pieces(), close: async () => void (await whole.return(undefined)) }
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

/**
 * Reads recorded traffic: `await readTraffic('access.log')`, or `bytes` that are called so. Without a `reader`, the beginning tells the
 * format. Rejects with a sentence if it does not, or if the traffic cannot be read.
 */
export async function readTraffic(name: string, reader?: LineReader | ArchiveReader, bytes?: AsyncIterable<Uint8Array>): Promise<Traffic> {
  const input = await openTraffic(name, bytes)
  if (reader) return 'read' in reader ? readLines(input, reader) : readArchive(input)
  if (/^\s*\{\s*"log"\s*:/.test(input.beginning)) return readArchive(input)
  const found = recognized(input.beginning.split('\n', LINES))
  if (found) return readLines(input, found)
  await input.close()
  throw misuse(`${name} is in no format that is recognized. ${formatsText()}`)
}

/** Lines that are tried. */
const LINES = 20

/** Maximum characters of an archive, which is read whole. V8 has no longer text. */
const LONGEST_ARCHIVE = 2 ** 28

async function readArchive({ name, pieces, close }: TrafficInput): Promise<Traffic> {
  let text = ''
  for await (const piece of pieces) {
    text += piece
    if (text.length <= LONGEST_ARCHIVE) continue
    await close()
    throw misuse(`${name} is an archive of more than ${LONGEST_ARCHIVE} characters; split it, or use a log with a line for each request.`)
  }
  try {
    const { items, unreadable } = readHar(text)
    return { format: 'har', unreadable: () => unreadable, unreadableLines: () => [], items: Readable.from(items) }
  } catch {
    // The parser's message would quote the archive, and perhaps a token with it.
    throw misuse(`${name} is not a complete HTTP archive (HAR).`)
  }
}

/** Lines that cannot be read and whose numbers are told. Their texts are not, because they may hold a token. */
const SHOWN = 5

/** Reads a log line by line, because it may be larger than memory. */
function readLines({ name, pieces }: TrafficInput, { format, read }: LineReader): Traffic {
  let [unreadable, at] = [0, 0]
  const unreadableLines: number[] = []
  async function* items(): AsyncGenerator<Item> {
    const hopeful = untilHopeless(pieces, () => at > unreadable, `${name} cannot be read as ${format}: no line is in that format`)
    for await (const line of linesOf(hopeful)) {
      at += 1
      if (line.trim() === '') continue
      const found = read(line)
      if (found) yield* found
      else {
        unreadable += 1
        if (unreadableLines.length < SHOWN) unreadableLines.push(at)
      }
    }
  }
  return { format, items: items(), unreadable: () => unreadable, unreadableLines: () => unreadableLines }
}
