import { isObject } from '../../tables/json.ts'
import type { MessageSink } from './message-sink.ts'
import { createRowScanner, type RowScanner } from './row-scanner.ts'

/** Reads the JSON text of an answer piece by piece. */
export interface ListText {
  /** Takes a piece. Throws a SyntaxError if its rows are no JSON. */
  push(piece: Uint8Array): void
  /** Ends the answer. Throws a SyntaxError if it is no JSON object. */
  end(): void
  /** The bytes that are held unparsed. */
  held(): number
}

/** Bytes of an answer that is parsed as a whole if it has no more. */
const SMALL = 256 * 1024

const END_OF_LIST = 0x5d

/**
 * Reads `{"items":[…], …}`, where `list` is the name of the member with the rows, and gives the sink its rows as they come: never all of them at
 * once. Pieces of Crosswalk's own writer hold whole rows and are not searched; those of another service may end anywhere.
 */
export function createListText(list: string, sink: Pick<MessageSink, 'rowsText' | 'rest'>): ListText {
  const begin = Buffer.from(`{${JSON.stringify(list)}:[`)
  let pieces: Uint8Array[] = []
  let size = 0
  let isOwn = false
  let scanner: RowScanner | undefined

  const giveRows = (rows: Uint8Array | undefined) => {
    if (rows) sink.rowsText(Buffer.from(rows.buffer, rows.byteOffset, rows.length))
  }
  const hold = (piece: Uint8Array) => {
    if (pieces.length === 0 && begin.equals(piece)) isOwn = true
    pieces.push(piece)
    size += piece.length
    if (isOwn || size <= SMALL) return
    scanner = createRowScanner(list)
    giveRows(scanner.push(Buffer.concat(pieces)))
    pieces = []
    size = 0
  }
  return {
    push(piece) {
      if (isOwn && piece[0] !== END_OF_LIST && pieces.length === 1) giveRows(piece)
      else if (scanner) giveRows(scanner.push(piece))
      else hold(piece)
    },
    end() {
      const rest: unknown = JSON.parse(scanner ? scanner.rest() : Buffer.concat(pieces).toString())
      if (!isObject(rest)) throw new SyntaxError('not an object')
      sink.rest(rest)
    },
    held: () => size + (scanner?.held() ?? 0),
  }
}
