import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../cli/support.ts'

const EXAMPLE = 'examples/resource-manager'
const [V1, V2] = [`${EXAMPLE}/openapi-v1.json`, `${EXAMPLE}/openapi-v3.json`]
const CONTRACTS = ['--v1', V1, '--v2', V2]

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'crosswalk-check-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** A module with the tables of the example, changed by some lines. */
function changed(name: string, lines: string): string {
  const path = join(folder, name)
  writeFileSync(path, `import { tables as whole } from ${JSON.stringify(resolve(EXAMPLE, 'tables.ts'))}\n${lines}\n`)
  return path
}

describe('crosswalk check', () => {
  it('finds nothing that the example leaves open', async () => {
    const { code, out } = await runCommand(['check', `${EXAMPLE}/tables.ts`, ...CONTRACTS])
    expect(out).toContain('acknowledged  v2 Project.etag in answers: v1 never had them\n')
    expect(out).toMatch(/\nresource-manager: \d+ covered, \d+ acknowledged, 0 not covered, 0 to decide, 0 wrong$/)
    expect(code).toBe(0)
  })

  it('finds nothing that the tables of this package leave open', async () => {
    const { code, out } = await runCommand(['check'])
    expect([code, out.split('\n')]).toEqual([
      0,
      [
        'Members were not compared: give the OpenAPI documents of both versions with --v1 FILE --v2 FILE.',
        'resource-management: 0 to decide, 0 wrong',
      ],
    ])
  })

  it('asks of a draft precisely what its header lists', async () => {
    const { code, out } = await runCommand(['check', `${EXAMPLE}/drafted.ts`, ...CONTRACTS])
    const header = readFileSync(`${EXAMPLE}/drafted.ts`, 'utf8')
    const listed = [...header.matchAll(/^\/\/ - (.*)$/gm)].map(([, decision]) => decision)
    const asked = [...out.matchAll(/^TO DECIDE {5}(.*)$/gm)].map(([, decision]) => decision)
    expect(header).toContain(`Left to decide: ${asked.length}.`)
    expect(asked.sort()).toEqual(listed.sort())
    expect(out).toMatch(new RegExp(`, 0 not covered, ${asked.length} to decide, 0 wrong$`))
    expect(code).toBe(1)
  })

  it('names everything that is wrong, and what to change', async () => {
    const path = changed(
      'wrong.ts',
      `const [mapping] = whole.mappings
       const operations = [...mapping.operations.slice(1), { ...mapping.operations[0], id: 'other.list' }, mapping.operations[3]]
       const acknowledged = [...whole.acknowledged, { v2: 'Project.etga', reason: 'a typing error' }, { v2: 'Lien.reason', reason: '' }]
       export const tables = { ...whole, mappings: [{ ...mapping, operations }], acknowledged }`,
    )
    const { code, out } = await runCommand(['check', path, ...CONTRACTS])
    expect(out.split('\n').filter((line) => !/^acknowledged/.test(line))).toEqual([
      'TO DECIDE     v2 Lien.reason: no reason is given',
      'WRONG         operation other.list stands in the mapping of resourcemanager; its id must begin with "resourcemanager."',
      'WRONG         operation id resourcemanager.projects.update stands twice (/v1/projects/{projectId} and /v1/projects/{projectId})',
      expect.stringMatching(/^WRONG {9}difference parent-type-alone: "resourcemanager.projects.list" fits no operation; did you mean /),
      'WRONG         difference parent-type-alone: no operation of it has a parameter filter; remove it.',
      'WRONG         acknowledged v2 Project.etga no longer applies: v2 has no such place; did you mean "Project.etag"?',
      'WRONG         acknowledged v2 Lien.reason no longer applies: the tables cover it; remove the row',
      expect.stringMatching(/, 0 not covered, 1 to decide, \d wrong$/),
    ])
    expect(code).toBe(1)
  })

  it('says how a place is acknowledged that nothing covers', async () => {
    const { code, out } = await runCommand([
      'check',
      changed('bare.ts', 'export const tables = { ...whole, acknowledged: [] }'),
      ...CONTRACTS,
    ])
    expect(out).toContain(
      '\nNOT COVERED   v2 Project.updateTime in answers: no row shows it (GET /v3/projects:search, GET /v3/projects/{projectsId})\n',
    )
    expect(out).toContain(
      "\nA row covers a place. What nobody needs is acknowledged: acknowledged: [{ v1: 'Project.lifecycleState=DELETE_IN_PROGRESS', reason: '…' }].\n",
    )
    expect(code).toBe(1)
  })

  it('prints what is covered with --all, and everything as JSON', async () => {
    const whole = await runCommand(['check', `${EXAMPLE}/tables.ts`, ...CONTRACTS, '--all'])
    expect(whole.out).toContain('covered       v1 Project.projectId in answers\n')
    const { ok, tables, points } = JSON.parse((await runCommand(['check', `${EXAMPLE}/tables.ts`, ...CONTRACTS, '--json'])).out)
    expect([ok, tables]).toEqual([true, 'resource-manager'])
    expect(points).toContainEqual({
      side: 'v1',
      part: 'request',
      at: 'Lien.name',
      operations: ['POST /v1/liens'],
      state: 'acknowledged',
      why: 'both versions name a lien themselves',
    })
  })

  it.each([
    [['check', '--v1', V1], 'check compares tables with the documents of both versions: --v1 FILE --v2 FILE.'],
    [['check', 'none.js'], /^none\.js cannot be loaded as tables: /],
    [['check', `${EXAMPLE}/tables.ts`, '--v1', 'none.json', '--v2', V2], /^a document cannot be read: .*none\.json/],
    [['check', 'a.js', 'b.js'], /b\.js/],
  ])('refuses %j', async (argv, sentence) => {
    const { code, err } = await runCommand(argv)
    expect([code, err]).toEqual([2, typeof sentence === 'string' ? sentence : expect.stringMatching(sentence)])
  })
})
