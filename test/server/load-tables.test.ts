import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../cli/support.ts'

const LANGUAGE = resolve('src/tables/language.ts')

describe('tables of another API', () => {
  let folder: string
  const written = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tables-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it('are the ones that commands speak of', async () => {
    const path = written(
      'things.ts',
      `import { list, resource, text, readOnly } from ${JSON.stringify(LANGUAGE)}
       const thing = resource('thing', { v2: '/v2/things', plural: 'things', fields: { id: readOnly('uid'), name: text('name') } })
       const operations = [list('shop.things.list', 'GET /shop/v1/things', thing, { query: { name: 'name' } })]
       export const tables = { name: 'shop', mappings: [{ domain: 'shop', operations }], differences: [], shapes: {} }`,
    )
    const { code, out } = await runCommand(['operations', '--tables', path, '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(out).map(({ id }: { id: string }) => id)).toEqual(['shop.things.list'])
    const explained = await runCommand(['explain', 'GET /shop/v1/things?name=a', '--tables', path])
    expect(explained.out).toContain('/v2/things?')
  })

  it.each([
    ['absent.ts', undefined, /absent\.ts cannot be loaded as tables: /],
    ['broken.ts', 'export const tables = {', /broken\.ts cannot be loaded as tables: /],
    ['other.ts', 'export const tables = []', /other\.ts exports no tables; export them as: /],
  ])('are refused with a sentence: %s', async (name, text, sentence) => {
    const path = text === undefined ? join(folder, name) : written(name, text)
    expect(await runCommand(['operations', '--tables', path])).toMatchObject({ code: 2, err: expect.stringMatching(sentence) })
  })
})
