/** Finds the rows of `{"items":[…], …}` in text that may be cut anywhere. Only whole rows leave it. */
export interface RowScanner {
  /** Takes a piece. Returns the text of the rows that have become whole, with commas between and perhaps before them, if there are any. */
  push(piece: Uint8Array): Buffer | undefined
  /** Returns the text without the rows that have left it. Throws a SyntaxError if it ended within its list. */
  rest(): string
  /** The bytes that it holds. */
  held(): number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LIST = 0x5b
const OBJECT = 0x7b
const LIST_END = 0x5d
const OBJECT_END = 0x7d

/** The depth of the rows: within the object and its list. */
const IN_LIST = 2

/** Letters before a bracket that are searched for the name of its list. */
const NAME = 99

/** `list` is the JSON name of the member with the rows. */
export function createRowScanner(list: string): RowScanner {
  const name = new RegExp(`"${list}"\\s*:\\s*$`)
  let head = Buffer.alloc(0)
  let text = Buffer.alloc(0)
  let phase: 'head' | 'rows' | 'tail' = 'head'
  let at = 0
  let depth = 0
  let inText = false

  const isList = () => phase === 'head' && depth === 1 && name.test(text.toString('latin1', Math.max(0, at - NAME), at))
  const beginList = () => {
    head = Buffer.from(text.subarray(0, at + 1))
    text = text.subarray(at + 1)
    at = -1
    depth = IN_LIST
    phase = 'rows'
  }
  /** Reads on to the end of the text or of the list. Returns the end of the last whole row, 0 if there is none. */
  const scan = (): number => {
    let end = 0
    for (; at < text.length; at += 1) {
      const letter = text[at]
      if (inText) {
        if (letter === BACKSLASH) at += 1
        else if (letter === QUOTE) inText = false
      } else if (letter === QUOTE) inText = true
      else if (letter === LIST && isList()) beginList()
      else if (letter === LIST || letter === OBJECT) depth += 1
      else if (letter === LIST_END || letter === OBJECT_END) {
        depth -= 1
        if (phase === 'rows' && depth === IN_LIST) end = at + 1
        else if (phase === 'rows' && depth < IN_LIST) {
          phase = 'tail'
          return at
        }
      }
    }
    return end
  }
  return {
    push(piece) {
      text = Buffer.concat([text, piece])
      const end = phase === 'tail' ? 0 : scan()
      if (end === 0) return undefined
      const rows = text.subarray(0, end)
      text = text.subarray(end)
      at -= end
      return rows
    },
    rest() {
      if (phase === 'rows') throw new SyntaxError('the list has no end')
      return Buffer.concat([head, text]).toString()
    },
    held: () => head.length + text.length,
  }
}
