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
