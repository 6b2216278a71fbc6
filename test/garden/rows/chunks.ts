import { CHUNKED, chunk, LAST_CHUNK, type Make, type Shape } from './make.ts'

/** Oddly written first chunks, and the bytes after them. A body is `before`, and then the hidden request in a chunk of its own. */
const FIRST_CHUNKS: readonly (readonly [name: string, before: string])[] = [
  ['an extension', '2;a=b\r\nxx\r\n'],
  ['an extension with a quoted line end', '2;a="\r\n"\r\nxx\r\n'],
  ['an extension with a bare carriage return', '2;a\rb\r\nxx\r\n'],
  ['an extension of 3 kB', `2;${'a'.repeat(3000)}\r\nxx\r\n`],
  ['an extension without its semicolon', '2 a=b\r\nxx\r\n'],
  ['a size with zeros before it', '0000002\r\nxx\r\n'],
  ['a size with 0x before it', '0x2\r\nxx\r\n'],
  ['a size with a plus', '+2\r\nxx\r\n'],
  ['a size with a minus', '-2\r\nxx\r\n'],
  ['a size after a space', ' 2\r\nxx\r\n'],
  ['a size before a space', '2 \r\nxx\r\n'],
  ['a size with an underscore', '0_2\r\nxx\r\n'],
  ['a size plus 2^32', '100000002\r\nxx\r\n'],
  ['a size plus 2^64', '10000000000000002\r\nxx\r\n'],
  ['no size', '\r\nxx\r\n'],
  ['a size that ends in a line feed', '2\nxx\r\n'],
  ['a size that ends in a carriage return', '2\rxx\r\n'],
  ['data that ends in a line feed', '2\r\nxx\n'],
  ['data that ends in two other bytes', '2\r\nxxyy'],
  ['data that is longer than its size', '2\r\nxxx\r\n'],
]

/** Ends of a body. Each is written so that a careless reader finds the hidden request after it. */
const LAST_CHUNKS: readonly (readonly [name: string, after: (make: Make) => string])[] = [
  ['a last chunk of many zeros', () => '000\r\n\r\n'],
  ['a last chunk with an extension', () => '0;a=b\r\n\r\n'],
  ['a last chunk that ends in line feeds', () => '0\n\n'],
  ['a last chunk without its empty line', ({ hidden }) => `0\r\n${hidden}`],
  ['an extension behind which a line feed hides the end', ({ hidden }) => `2;\nxx\r\n${hidden.length.toString(16)}\r\n0\r\n\r\n${hidden}`],
  ['a trailer', () => '0\r\nx-trailer: a\r\n\r\n'],
  ['trailers that frame', ({ hidden }) => `0\r\ncontent-length: ${hidden.length}\r\ntransfer-encoding: chunked\r\n\r\n`],
  ['a trailer that is a credential', () => '0\r\nauthorization: Bearer ok.nobody\r\nhost: elsewhere\r\n\r\n'],
  ['a trailer that is folded', () => '0\r\nx-trailer: a\r\n b\r\n\r\n'],
  ['a trailer without a colon', ({ hidden }) => `0\r\n${hidden.split('\r\n')[0]}\r\n\r\n`],
  ['a trailer with a bare line feed', ({ hiddenWhole }) => `0\r\nx: y\n\n${hiddenWhole}`],
]

const post = ({ head }: Make) => head('POST', [CHUNKED])

export const firstChunkShapes: readonly Shape[] = FIRST_CHUNKS.map(([name, before]) => ({
  name: `chunks: ${name}`,
  bytes: (make) => post(make) + before + chunk(make.hidden) + LAST_CHUNK,
}))

export const lastChunkShapes: readonly Shape[] = LAST_CHUNKS.map(([name, after]) => ({
  name: `chunks: ${name}`,
  bytes: (make) => post(make) + chunk('xx') + after(make),
}))
