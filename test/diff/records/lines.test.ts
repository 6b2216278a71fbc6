import { expect, it } from 'vitest'
import { linesOf } from '../../../src/migrate/records/record-file.ts'

async function linesIn(...pieces: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const line of linesOf(given(pieces))) lines.push(line)
  return lines
}

async function* given(pieces: readonly string[]): AsyncGenerator<string> {
  yield* pieces
}

it.each([
  ['', []],
  ['a', ['a']],
  ['a\nb\r\n\nc\n', ['a', 'b', '', 'c']],
  ['a\u2028b\u2029c\rd\n', ['a\u2028b\u2029c\rd']],
])('splits a text %j into the lines %j', async (text, lines) => expect(await linesIn(text)).toEqual(lines))

it('returns lines whole that are longer than one read', async () => {
  const long = 'ä'.repeat(200_000)
  expect(await linesIn(...(`${long}\n${long}`.match(/.{1,65536}|\n/g) ?? []))).toEqual([long, long])
})

it('cuts a line that never ends', async () => {
  const lines = await linesIn(...Array.from({ length: 100 }, () => 'a'.repeat(65_536)), '\nb')
  expect([lines.at(-1), Math.max(...lines.map((line) => line.length)) <= 2 ** 20 + 65_536]).toEqual(['b', true])
})
