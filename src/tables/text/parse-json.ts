import { isUtf8 } from 'node:buffer'

/** The number of digits that every JavaScript number holds exactly. */
const EXACT_DIGITS = 15

/** Matches where a longer number may be. */
const LONG_NUMBER = /(?:^|[:,[])\s*-?\d{16}/

/**
 * Parses JSON. An integer with more digits than a JavaScript number holds becomes text, v2's usual form of 64-bit values (specification
 * §1, rule 9). Every other number stays a number.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  return LONG_NUMBER.test(text) ? JSON.parse(withLongNumbersQuoted(text)) : value
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const MINUS = 0x2d

/** Returns the same JSON with its long integers in quotes. */
function withLongNumbersQuoted(json: string): string {
  let quoted = ''
  let from = 0
  let at = 0
  while (at < json.length) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) at = endOfString(json, at)
    else if (code !== MINUS && !isDigit(code)) at += 1
    else {
      const end = endOfNumber(json, at)
      const number = json.slice(at, end)
      if (number.length > EXACT_DIGITS && WHOLE.test(number)) {
        quoted += `${json.slice(from, at)}"${number}"`
        from = end
      }
      at = end
    }
  }
  return quoted + json.slice(from)
}

const WHOLE = /^-?\d{16,}$/

function endOfString(json: string, begin: number): number {
  let at = begin + 1
  while (json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at + 1
}

/** No character of a number can follow one. */
function endOfNumber(json: string, begin: number): number {
  let at = begin + 1
  while (isDigit(json.charCodeAt(at)) || '+-.eE'.includes(json.charAt(at) || ' ')) at += 1
  return at
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Bytes of an answer that is parsed in one piece, whatever it holds. A page of 200 rows has 60 KB. */
export const SHORT_JSON = 128 * 1024

/** The most that a row, or what stands beside the rows, may hold: it is parsed in one piece, in less than 50 ms. */
const MOST_VALUES = 20_000
const MOST_BYTES = 4 * 1024 * 1024

/** Bytes of rows that are parsed together, and bytes that are looked through before others may be served. */
const PART = 32 * 1024
const WINDOW = 64 * 1024

/** The most values of an answer: V8 tidies up many names in one piece. 200 rows may have 2,500 each. */
const MOST_IN_ALL = 500_000

const longLists = new WeakSet<object>()

/** True for a list of an answer that was parsed row by row: its rows are to be written one by one as well. */
export function isLongList(list: object): boolean {
  return longLists.has(list)
}

/** Says so of a part of such a list. */
export function markLong<List extends object>(list: List): List {
  longLists.add(list)
  return list
}

/** Makes the error of an answer that holds too much: `more than 500000 values`. */
type TooMuch = (what: string) => Error

/**
 * Parses JSON that came in pieces, as `parseJson` does: an object's lists row by row, so that others can be served in between. It yields
 * where they can. Throws a SyntaxError or a TypeError for what is not JSON in UTF-8, and the error of a bound. Blank text is undefined.
 */
export function* parseByRows(pieces: readonly Uint8Array[], tooMuch: TooMuch): Generator<undefined, unknown> {
  const reading = new ReadByRows(tooMuch)
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += WINDOW) {
      reading.take(piece.subarray(from, from + WINDOW))
      yield
    }
  }
  return reading.end()
}

const COMMA = 0x2c
const OPEN_LIST = 0x5b

/** One answer while it is looked through. What stands around the rows is kept as text, with the number of its list in place of the rows. */
class ReadByRows {
  readonly #tooMuch: TooMuch
  readonly #around: Uint8Array[] = []
  readonly #lists: unknown[][] = []
  #list: unknown[] | undefined
  #rows: Uint8Array[] = []
  #rowsBytes = 0
  #depth = 0
  #isString = false
  #isEscaped = false
  /** Bytes and values around the rows, of the row that is looked through, and values of all. */
  #aroundBytes = 0
  #aroundValues = 0
  #rowBytes = 0
  #rowValues = 0
  #values = 0

  constructor(tooMuch: TooMuch) {
    this.#tooMuch = tooMuch
  }

  take(bytes: Uint8Array): void {
    let from = 0
    let isString = this.#isString
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at]!
      if (isString) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (byte === BACKSLASH) this.#isEscaped = true
        else if (byte === QUOTE) isString = false
      } else if (byte === QUOTE) isString = true
      else if (byte === COMMA) {
        this.#count()
        if (this.#list && this.#depth === 2) {
          this.#keep(bytes, from, at)
          from = at + 1
          this.#endRow()
        }
      } else if ((byte | 32) === 0x7b) {
        this.#count()
        if (this.#depth === 1 && byte === OPEN_LIST) {
          this.#keep(bytes, from, at + 1)
          from = at + 1
          this.#begin()
        }
        this.#depth += 1
      } else if ((byte | 32) === 0x7d) {
        this.#depth -= 1
        if (this.#list && this.#depth === 1) {
          this.#keep(bytes, from, at)
          from = at
          this.#endList(this.#list)
        }
      }
    }
    this.#isString = isString
    this.#keep(bytes, from, bytes.length)
  }

  end(): unknown {
    const text = textOf(this.#around)
    if (text.trim() === '') return undefined
    const value = parseJson(text)
    // A list that never ended makes the text around it no JSON.
    for (const list of typeof value === 'object' && value !== null ? Object.values(value) : []) if (Array.isArray(list)) this.#fill(list)
    return value
  }

  #fill(list: unknown[]): void {
    const rows = this.#lists[list[0] as number] ?? []
    list.length = 0
    for (const row of rows) list.push(row)
    markLong(list)
  }

  #begin(): void {
    this.#around.push(Buffer.from(String(this.#lists.length)))
    this.#list = []
    this.#lists.push(this.#list)
    this.#rowBytes = 0
    this.#rowValues = 0
  }

  #count(): void {
    this.#values += 1
    if (this.#values > MOST_IN_ALL) throw this.#tooMuch(`more than ${MOST_IN_ALL} values`)
    const held = this.#list ? ++this.#rowValues : ++this.#aroundValues
    if (held > MOST_VALUES) throw this.#tooMuch(`more than ${MOST_VALUES} values ${PLACE}`)
  }

  #keep(bytes: Uint8Array, from: number, to: number): void {
    if (from === to) return
    const part = bytes.subarray(from, to)
    if (this.#list) {
      this.#rows.push(part)
      this.#rowBytes += part.length
      this.#rowsBytes += part.length
    } else {
      this.#around.push(part)
      this.#aroundBytes += part.length
    }
    if ((this.#list ? this.#rowBytes : this.#aroundBytes) > MOST_BYTES) throw this.#tooMuch(`more than ${MOST_BYTES} bytes ${PLACE}`)
  }

  #endRow(): void {
    this.#rowBytes = 0
    this.#rowValues = 0
    if (this.#rowsBytes >= PART) {
      this.#parseRows()
      return
    }
    this.#rows.push(BETWEEN)
    this.#rowsBytes += 1
  }

  #endList(list: unknown[]): void {
    // An empty list has no rows, but nothing may stand behind the last comma of another.
    if (list.length > 0 || textOf(this.#rows).trim() !== '') this.#parseRows()
    else this.#rows = []
    this.#list = undefined
  }

  #parseRows(): void {
    const rows = parseJson(`[${textOf(this.#rows)}]`) as unknown[]
    if (rows.length === 0) throw new SyntaxError('no row stands beside a comma')
    for (const row of rows) this.#list?.push(row)
    this.#rows = []
    this.#rowsBytes = 0
  }
}

const PLACE = 'in one row, or beside its rows'

const BETWEEN = Buffer.from(',')

function textOf(pieces: readonly Uint8Array[]): string {
  const bytes = Buffer.concat(pieces)
  if (!isUtf8(bytes)) throw new TypeError('the body is not UTF-8')
  return bytes.toString()
}
