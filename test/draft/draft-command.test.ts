import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../cli/support.ts'

const [V1, V3] = ['v1', 'v3'].map((version) => `examples/resource-manager/openapi-${version}.json`) as [string, string]

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'crosswalk-draft-'))
})

afterAll(() => rmSync(folder, { recursive: true }))

describe('crosswalk draft', () => {
  it('writes the draft to a file and prints what is left to decide', async () => {
    const out = join(folder, 'tables.ts')
    const ran = await runCommand(['draft', '--v1', V1, '--v2', V3, '--name', 'resourcemanager', '--out', out])
    expect(readFileSync(out, 'utf8')).toBe(readFileSync('examples/resource-manager/drafted.ts', 'utf8'))
    expect(ran.out).toMatch(/^written to .*tables\.ts\nto decide: GET \/v1\/projects: GET \/v3\/projects has its path, but needs parent\n/)
  })

  it('writes JavaScript without types where the name of the file says so', async () => {
    const out = join(folder, 'tables.mjs')
    await runCommand(['draft', '--v1', V1, '--v2', V3, '--name', 'resourcemanager', '--out', out])
    const [typed, plain] = [readFileSync('examples/resource-manager/drafted.ts', 'utf8'), readFileSync(out, 'utf8')]
    const untyped = typed
      .replace(/^interface .*\n(?:^ .*\n)*\}\n\n/gm, '')
      .replace(/^interface .*\{\}\n\n/gm, '')
      .replace(/rows<\w+, \w+>\(\)\((\{[\s\S]*?\n\})\)/g, '$1')
      .replaceAll(/, type \w+|(?<= )rows, /g, '')
      .replaceAll(/: (?:Mapping|Tables|readonly Acknowledged\[\]) =/g, ' =')
    expect(plain).toBe(untyped)
  })

  it.each([
    [['--v1', V1], 2, 'draft needs two OpenAPI documents: --v1 FILE --v2 FILE.'],
    [['--v1', V1, '--v2', V3, '--name', 'a b'], 2, 'name is "a b", but it must be letters and digits such as "shop".'],
    [['--v1', 'none.json', '--v2', V3], 2, 'a document cannot be read: there is no such file or folder (none.json)'],
  ])('says what is wrong with %j', async (argv, code, sentence) => {
    const ran = await runCommand(['draft', ...argv])
    expect([ran.code, ran.err.trim()]).toEqual([code, sentence])
  })
})
