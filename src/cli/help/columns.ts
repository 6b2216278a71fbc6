/** The longest line of a text for people. */
export const LINE = 100

/** Breaks a text between words into lines of at most `width` characters. A longer word has a line of its own. */
export function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/** The left column of a table: `  --port PORT`. A longer entry has a line of its own. */
const LEFT = 30

/** Returns two columns: an entry, and its text, which is wrapped beside it. */
export function row(entry: string, text: string): readonly string[] {
  const left = `  ${entry}`
  const [first = '', ...others] = wrapped(text, LINE - LEFT)
  const rest = others.map((line) => ' '.repeat(LEFT) + line)
  if (left.length > LEFT - 2) return [left, ' '.repeat(LEFT) + first, ...rest]
  return [left.padEnd(LEFT) + first, ...rest]
}

/** Wraps a text and moves it two characters to the right. */
export function indented(text: string): readonly string[] {
  return wrapped(text, LINE - 2).map((line) => `  ${line}`)
}
