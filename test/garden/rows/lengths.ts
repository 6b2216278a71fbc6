import type { Shape } from './make.ts'

/** Ways to declare a body of `n` bytes. */
const LENGTHS: readonly (readonly [name: string, lines: (n: number) => readonly string[]])[] = [
  ['with a plus', (n) => [`content-length: +${n}`]],
  ['with a minus', (n) => [`content-length: -${n}`]],
  ['with zeros before it', (n) => [`content-length: 000${n}`]],
  ['in hexadecimal', (n) => [`content-length: 0x${n.toString(16)}`]],
  ['with a fraction', (n) => [`content-length: ${n}.0`]],
  ['with an underscore in it', (n) => [`content-length: ${String(n).split('').join('_')}`]],
  ['with a word after it', (n) => [`content-length: ${n} a`]],
  ['with a NUL after it', (n) => [`content-length: ${n}\x00`]],
  ['with a vertical tab before it', (n) => [`content-length: \x0b${n}`]],
  ['with a space before the colon', (n) => [`content-length : ${n}`]],
  ['with an underscore in the name', (n) => [`content_length: ${n}`]],
  ['folded', (n) => [`content-length:\r\n ${n}`]],
  ['behind a bare line feed', (n) => [`x-first: a\ncontent-length: ${n}`]],
  ['that is empty', () => ['content-length:']],
  ['twice the same', (n) => [`content-length: ${n}`, `content-length: ${n}`]],
  ['then none', (n) => [`content-length: ${n}`, 'content-length: 0']],
  ['after none', (n) => ['content-length: 0', `content-length: ${n}`]],
  ['twice in one line', (n) => [`content-length: ${n}, ${n}`]],
  ['after none in one line', (n) => [`content-length: 0, ${n}`]],
  ['plus 2^32', (n) => [`content-length: ${2 ** 32 + n}`]],
  ['plus 2^64', (n) => [`content-length: ${2n ** 64n + BigInt(n)}`]],
]

/** A hidden request as the body, with an oddly declared length. */
export const lengthShapes: readonly Shape[] = LENGTHS.map(([name, lines]) => ({
  name: `a length ${name}`,
  bytes: ({ head, hidden, pick }) => head(pick(['POST', 'GET', 'DELETE']), lines(hidden.length)) + hidden,
}))
