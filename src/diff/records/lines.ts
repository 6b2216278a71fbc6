import { createReadStream } from 'node:fs'
import { named } from '../../errors.ts'

/**
 * Yields the lines of a file, which may be larger than memory, without `\n` or `\r\n`. Rejects if the file cannot be read.
 * JSON may contain U+2028 and U+2029 unescaped, and the line reader of Node 24 ends a line there.
 */
export async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = ''
  for await (const piece of piecesOf(path)) {
    const [first = '', ...others] = piece.split('\n')
    const lines = [rest + first, ...others]
    rest = lines.pop() ?? ''
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line
  }
  if (rest !== '') yield rest
}

async function* piecesOf(path: string): AsyncGenerator<string> {
  try {
    yield* createReadStream(path, 'utf8') as AsyncIterable<string>
  } catch (error) {
    throw named(error, path)
  }
}
