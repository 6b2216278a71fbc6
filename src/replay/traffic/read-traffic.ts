import { misuse } from '../../errors.ts'
import { readHar } from './formats/har.ts'
import { formatsText, type LineReader, recognized } from './formats/traffic-formats.ts'
import type { Item, Traffic } from './recorded-traffic.ts'
import { linesIn, openTraffic, type TrafficInput, type TrafficSource } from './traffic-input.ts'

/**
 * Reads recorded traffic: `await readTraffic({ name: 'access.log' })`. Without a `reader`, the beginning tells the format. Rejects with a
 * sentence if it does not, or if the traffic cannot be read.
 */
export async function readTraffic(source: TrafficSource, reader?: LineReader): Promise<Traffic> {
  const input = await openTraffic(source)
  if (reader) return readLines(input, reader)
  if (/^\s*\{\s*"log"\s*:/.test(input.beginning)) return readArchive(input)
  const found = recognized(input.beginning.split('\n', LINES))
  if (found) return readLines(input, found)
  await input.close()
  throw misuse(`${source.name} is in no format that is recognized. ${formatsText()}`)
}

/** Lines that are tried. */
const LINES = 20

async function readArchive({ name, pieces }: TrafficInput): Promise<Traffic> {
  let text = ''
  for await (const piece of pieces) text += piece
  const { items, unreadable } = harOf(name, text)
  return { format: 'har', unreadable: () => unreadable, unreadableLines: () => [], items: each(items) }
}

function harOf(name: string, text: string): ReturnType<typeof readHar> {
  try {
    return readHar(text)
  } catch {
    // The parser's message would quote the archive, and perhaps a token with it.
    throw misuse(`${name} is not a complete HTTP archive (HAR).`)
  }
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items
}

/** Lines that cannot be read and whose numbers are told. Their texts are not, because they may hold a token. */
const SHOWN = 5

/** Reads a log line by line, because it may be larger than memory. */
function readLines({ pieces }: TrafficInput, { format, read }: LineReader): Traffic {
  let [unreadable, at] = [0, 0]
  const unreadableLines: number[] = []
  async function* items(): AsyncGenerator<Item> {
    for await (const line of linesIn(pieces)) {
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
