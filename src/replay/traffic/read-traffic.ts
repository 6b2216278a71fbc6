import { open, readFile } from 'node:fs/promises'
import { linesOf } from '../../diff/records/lines.ts'
import { readHar } from './har.ts'
import { readLogLine } from './log-line.ts'
import { readRecordLine } from './record-lines.ts'
import type { Format, Item, Traffic } from './recorded-traffic.ts'

/** Reads recorded traffic in any of the formats. Rejects with a sentence if the format is unknown or the file unreadable. */
export async function readTraffic(path: string): Promise<Traffic> {
  const format = formatOf(await beginningOf(path))
  if (format === undefined) {
    throw new Error(`${path} is neither an HTTP archive (HAR), nor a combined access log, nor records or a log of Crosswalk (NDJSON).`)
  }
  return format === 'har' ? readArchive(path) : readLines(path, format)
}

async function readArchive(path: string): Promise<Traffic> {
  const { items, unreadable } = harOf(path, await readFile(path, 'utf8'))
  return { format: 'har', unreadable: () => unreadable, items: each(items) }
}

function harOf(path: string, text: string): ReturnType<typeof readHar> {
  try {
    return readHar(text)
  } catch {
    // The parser's message would quote the archive, and perhaps a token with it.
    throw new Error(`${path} is not a complete HTTP archive (HAR).`)
  }
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items
}

const READERS: Readonly<Record<Exclude<Format, 'har'>, (line: string) => Item | 'nothing' | undefined>> = {
  'access-log': readLogLine,
  records: readRecordLine,
}

/** Reads a log line by line, because it may be larger than memory. */
function readLines(path: string, format: Exclude<Format, 'har'>): Traffic {
  let unreadable = 0
  async function* items(): AsyncGenerator<Item> {
    for await (const line of linesOf(path)) {
      if (line.trim() === '') continue
      const item = READERS[format](line)
      if (item === undefined) unreadable += 1
      else if (item !== 'nothing') yield item
    }
  }
  return { format, items: items(), unreadable: () => unreadable }
}

/** Enough to recognize the format. */
const BEGINNING = 64 * 1024

async function beginningOf(path: string): Promise<string> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(BEGINNING), 0, BEGINNING, 0)
    return buffer.toString('utf8', 0, bytesRead).replace(/^\uFEFF/, '')
  } finally {
    await file.close()
  }
}

/** The first line may be torn or from another program, but not all of the first lines. */
const LINES = 20

function formatOf(text: string): Format | undefined {
  if (/^\s*\{\s*"log"\s*:/.test(text)) return 'har'
  const lines = text.split('\n', LINES)
  return (['records', 'access-log'] as const).find((format) => lines.some((line) => READERS[format](line) !== undefined))
}
