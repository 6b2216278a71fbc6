const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const OPENING: ReadonlySet<number | undefined> = new Set(Buffer.from('{['))
const CLOSING: ReadonlySet<number | undefined> = new Set(Buffer.from('}]'))
const COMMA = 0x2c

/** Thrown for text that only a parser of JSON reads: with spaces, with an escape in a name, or none at all. */
export const UNUSUAL = new SyntaxError('unusual JSON')

/** A place in JSON text without spaces. A class, because every row is read by it. */
export class JsonCursor {
  readonly bytes: Buffer
  at = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** The letter at this place; undefined at the end. */
  get letter(): number | undefined {
    return this.bytes[this.at]
  }

  /** Steps over a letter if it is here. */
  passes(letter: number): boolean {
    if (this.bytes[this.at] !== letter) return false
    this.at += 1
    return true
  }

  /** Steps over a text if it is here: `"name":`. */
  passesAll(text: Uint8Array): boolean {
    for (let index = 0; index < text.length; index += 1) if (this.bytes[this.at + index] !== text[index]) return false
    this.at += text.length
    return true
  }

  /** Reads a name with its colon. */
  name(): string {
    const from = this.at + 1
    const end = this.bytes.indexOf(QUOTE, from)
    if (this.letter !== QUOTE || end < 0 || this.bytes[end + 1] !== COLON) throw UNUSUAL
    this.at = end + 2
    return this.bytes.toString('latin1', from, end)
  }

  /** Steps over a value and returns its text. */
  value(): string {
    const from = this.at
    this.skip()
    return this.bytes.toString('utf8', from, this.at)
  }

  /** Steps over a value. */
  skip(): void {
    let depth = 0
    for (; this.at < this.bytes.length; this.at += 1) {
      const letter = this.bytes[this.at]
      if (letter === QUOTE) this.#skipText()
      else if (OPENING.has(letter)) depth += 1
      else if (depth === 0 && (letter === COMMA || CLOSING.has(letter))) break
      else if (CLOSING.has(letter)) depth -= 1
    }
  }

  /** Steps to the quote that ends a text. */
  #skipText(): void {
    this.at += 1
    while (this.bytes[this.at] !== QUOTE) {
      if (this.at >= this.bytes.length) throw UNUSUAL
      this.at += this.bytes[this.at] === BACKSLASH ? 2 : 1
    }
  }
}
