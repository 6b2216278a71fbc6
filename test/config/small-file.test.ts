import { expect, it } from 'vitest'
import { parseJsonc, parseYaml, readConfigFile } from '../../src/app/config/config-file.ts'
import { fromFile } from '../../src/app/config/kinds.ts'
import { processorMs } from '../stage/own-time.ts'

it('reads no more of a device than a file may have', () => {
  expect(readConfigFile('/dev/zero').problems).toEqual(['The configuration file /dev/zero cannot be read: it has more than 1048576 bytes.'])
})

it.each([
  ['JSON', parseJsonc, `{"a":${'['.repeat(100_000)}`],
  ['YAML', parseYaml, `a: ${'['.repeat(100_000)}`],
])('says of %s that its brackets are too deep', (_, parse, text) => {
  expect(parse(text)).toEqual({ wrong: expect.stringMatching(/^line 1, column \d+: brackets are nested deeper than 100 levels$/) })
})

it('finds a repeated name among very many soon', () => {
  const names = Array.from({ length: 60_000 }, (_, at) => `"m${at}":1`)
  const ms = processorMs(() => {
    expect(parseJsonc(`{${names.join()}}`)).toHaveProperty('value.m59999', 1)
    expect(parseJsonc(`{${names.join()},"m5":1}`)).toEqual({ wrong: expect.stringMatching(/an earlier member has this name$/) })
  })
  expect(ms).toBeLessThan(5000)
})

it('reads no secret from a device', () => {
  const read = fromFile('a token', () => true).safeParse('@/dev/zero')
  expect(read.error?.issues.map(({ message }) => message)).toEqual(['names a file that cannot be read: it has more than 1048576 bytes'])
})
