import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { linesOf } from '../../../src/migrate/records/record-file.ts'

const directory = mkdtempSync(join(tmpdir(), 'crosswalk-lines-'))
afterAll(() => rmSync(directory, { recursive: true }))

async function linesIn(text: string): Promise<readonly string[]> {
  const path = join(directory, 'file')
  writeFileSync(path, text)
  const lines: string[] = []
  for await (const line of linesOf(path)) lines.push(line)
  return lines
}

it.each([
  ['', []],
  ['a', ['a']],
  ['a\nb\r\n\nc\n', ['a', 'b', '', 'c']],
  ['a\u2028b\u2029c\rd\n', ['a\u2028b\u2029c\rd']],
])('splits a file %j into the lines %j', async (text, lines) => expect(await linesIn(text)).toEqual(lines))

it('returns lines whole that are longer than one read', async () => {
  const long = 'ä'.repeat(200_000)
  expect(await linesIn(`${long}\n${long}`)).toEqual([long, long])
})
