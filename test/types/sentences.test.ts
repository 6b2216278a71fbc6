import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'

const COMPILER = resolve('node_modules/typescript/bin/tsc')

/** Writes the settings of the compiler into a folder: the rules of this package, and the language of the tables by its name. */
function writeSettings(folder: string, files: readonly string[]): string {
  const path = join(folder, 'tsconfig.json')
  const compilerOptions = {
    noEmit: true,
    rootDir: '/',
    typeRoots: [resolve('node_modules/@types')],
    paths: { 'crosswalk/tables': [resolve('src/tables/language.ts')] },
  }
  writeFileSync(path, JSON.stringify({ extends: resolve('tsconfig.json'), compilerOptions, files, include: [], exclude: [] }))
  return path
}

/** What the compiler prints, whatever its exit code. */
function compile(settings: string, ...flags: readonly string[]): Promise<string> {
  return new Promise((done) => {
    execFile(process.execPath, [COMPILER, '-p', settings, ...flags], { maxBuffer: 2 ** 26 }, (_, out) => done(out))
  })
}

describe('budget', () => {
  /**
   * What the compiler may instantiate for tables, about a quarter above what it does. A type of the language that costs more makes every
   * editor slower, so that it needs a reason.
   */
  const BUDGETS = [
    ['the tables of this package', 'mappings/index.ts', 27_000],
    ['the tables of the example', 'examples/resource-manager/tables.ts', 21_000],
    ['the draft of the example', 'examples/resource-manager/drafted.ts', 27_500],
  ] as const

  it.each(BUDGETS)(
    'bounds the instantiations of types for %s',
    async (name, file, most) => {
      const folder = mkdtempSync(join(tmpdir(), 'crosswalk-budget-'))
      const out = await compile(writeSettings(folder, [resolve(file)]), '--extendedDiagnostics', '--singleThreaded')
      rmSync(folder, { recursive: true })
      const count = Number(/^Instantiations:\s+(\d+)/m.exec(out)?.[1])
      process.stderr.write(`${name}: ${count} instantiations of types, at most ${most}\n`)
      expect(out).not.toMatch(/error TS/)
      expect(count).toBeLessThan(most)
    },
    60_000,
  )
})

describe('sentences', () => {
  const HEAD = `import { action, converted, gone, intParam, nested, object, objects, optional, parameters, readOnly, resource, rows, text, time } from 'crosswalk/tables'
interface V1 { name?: string; createTime: string; parent?: { id?: string }; labels?: readonly { key: string }[]; loose?: unknown; owner?: { id: string } }
interface V2 { displayName?: string; createTime: string; parent: string; labels?: readonly { name: string }[]; loose?: unknown; meta?: { owner?: string } }
interface Query1 { pageSize?: number; filter?: string }
interface Query2 { page_size?: number; query?: string }
const known = rows<V1, V2>()
const asked = parameters<Query1, Query2>()
const table = resource('a', { v2: '/v2/a', plural: 'a', fields: known({ name: text('displayName') }) })
`

  const RIGHT = [
    "known({ name: optional(text('displayName')), createTime: readOnly(time('createTime')) })",
    "known({ parent: converted(object('parent', { id: text('id') }), { show: String }) })",
    "known({ labels: objects('labels', { key: text('name') }), owner: nested({ id: text('meta.owner') }) })",
    "known({ parent: gone(text, 'v2 has none'), loose: object('loose', { any: text('thing') }) })",
    "asked({ pageSize: intParam('page_size'), filter: 'query' })",
    "action('a.a.get', 'GET /v1/a/{id}', { v2: 'GET /v2/a/{id}', selects: 'id', params: asked({ filter: 'query' }), paging: { parameter: 'filter', member: 'x' } })",
  ]

  const V2_HAS = "it has 'createTime', 'displayName', 'labels', 'loose', 'meta', 'parent'"

  const WRONG: readonly (readonly [line: string, sentence: string])[] = [
    ["known({ nmae: text('displayName') })", "v1 has no member 'nmae'; it has 'createTime', 'labels', 'loose', 'name', 'owner', 'parent'"],
    ["known({ name: optional(text('displayNmae')) })", `v2 has no member 'displayNmae'; ${V2_HAS}`],
    ["known({ createTime: readOnly('creatTime') })", `v2 has no member 'creatTime'; ${V2_HAS}`],
    ["known({ owner: nested({ id: text('meta.ownr') }) })", "v2 has no member 'ownr'; it has 'owner'"],
    ["known({ labels: objects('labels', { kye: text('name') }) })", "v1 has no member 'kye'; it has 'key'"],
    ["known({ labels: objects('labels', { key: text('nmae') }) })", "v2 has no member 'nmae'; it has 'name'"],
    ["asked({ fliter: 'query' })", "v1 has no parameter 'fliter'; it has 'filter', 'pageSize'"],
    ["asked({ pageSize: intParam('pageSize') })", "v2 has no parameter 'pageSize'; it has 'page_size', 'query'"],
    ["action('a.a.b', 'GET /v1/a/{id}', { v2: 'GET /v2/a/{name}' })", '{name} is not a variable of GET /v1/a/{id}'],
    ["action('a.a.b', 'GET /v1/a/{id}', { v2: 'GET /v2/a/{id}', selects: 'idd' })", `Type '"idd"' is not assignable to type '"id"'`],
    [
      "action('a.a.b', 'GET /v1/a', { v2: 'GET /v2/a', params: { pageToken: 'p' }, paging: { parameter: 'pageTokn', member: 'next' } })",
      `Type '"pageTokn"' is not assignable to type '"pageToken"'`,
    ],
    [
      "action('a.a.b', 'DELETE /v1/a/{id}', { v2: 'DELETE /v2/a/{id}', readBack: { resource: table, named: { param: 'idd' }, gone: true } })",
      `Type '"idd"' is not assignable to type '"id"'`,
    ],
  ]

  /** The errors of each line of a module after its head. */
  let errors: ReadonlyMap<number, string>

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'crosswalk-types-'))
    const file = join(folder, 'lines.mts')
    const lines = [...RIGHT, ...WRONG.map(([line]) => line)].map((line, nth) => `export const line${nth}: object = ${line}`)
    writeFileSync(file, `${HEAD}${lines.join('\n')}\n`)
    const out = await compile(writeSettings(folder, [file]))
    rmSync(folder, { recursive: true })
    const first = HEAD.split('\n').length
    const blocks = out.split(/^(?=\S+\(\d+,\d+\): error)/m)
    errors = new Map(blocks.map((block) => [Number(/\((\d+),/.exec(block)?.[1]) - first, block]))
  }, 60_000)

  it.each(RIGHT.map((line, nth) => [line, nth] as const))('accepts %s', (_, nth) => {
    expect(errors.get(nth)).toBeUndefined()
  })

  it.each(WRONG.map(([line, sentence], nth) => [line, sentence, nth + RIGHT.length] as const))('refuses %s', (_, sentence, nth) => {
    expect(errors.get(nth)).toContain(sentence)
  })

  it('finds no other error', () => {
    expect(
      [...errors.keys()].filter((nth) => !(nth >= RIGHT.length)).flatMap((nth) => (Number.isNaN(nth) ? [] : [errors.get(nth)])),
    ).toEqual([])
  })
})
