import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { differences } from '../../mappings/differences.ts'
import { mappings } from '../../mappings/index.ts'
import * as words from '../../src/admin/web/words.ts'
import { SETTINGS } from '../../src/app/config/settings.ts'
import { runCommand } from '../cli/support.ts'

const ROOT = new URL('../../', import.meta.url)

/** The pages for users; the facts cite themselves. */
const DOCS = readdirSync(new URL('docs', ROOT), { recursive: true, encoding: 'utf8' })
  .filter((page) => !page.startsWith('facts/'))
  .map((page) => `docs/${page}`)

/** A section number, except of an RFC: users do not have the other documents. */
const CITATION = /(?<!RFC \d+ )§/

/** Every text in a value that cites a document, with its path. */
function citationsIn(value: unknown, at = '', seen = new Set<unknown>()): readonly string[] {
  if (typeof value === 'string') return CITATION.test(value) ? [`${at}: ${value}`] : []
  if (typeof value !== 'object' || value === null || seen.has(value)) return []
  seen.add(value)
  const entries = value instanceof Map ? [...value] : Object.entries(value)
  return entries.flatMap(([key, inner]) => citationsIn(inner, `${at}/${key}`, seen))
}

describe('the texts that users read', () => {
  it('are found in every part of a value', () => {
    const value = { rows: [new Map([['a', { because: 'v2 has none (facts §4.4)' }]])], rfc: 'nothing ends before (RFC 9745 §4)' }
    expect(citationsIn(value)).toEqual(['/rows/0/a/because: v2 has none (facts §4.4)'])
  })

  it.each(Object.entries({ mappings, differences, settings: SETTINGS, report: { ...words } }))('cite no document in %s', (_, texts) => {
    expect(citationsIn(texts)).toEqual([])
  })

  it('cite no document in the output of the commands about themselves', async () => {
    const help = (await runCommand(['--help'])).out
    const commands = [...help.matchAll(/^ {2}crosswalk ([a-z]+( token)?)/gm)].map(([, command = '']) => command.split(' '))
    expect(commands.length).toBeGreaterThan(8)
    const argvs = [...commands.map((command) => [...command, '--help']), ['operations'], ['operations', '--json']]
    const printed = await Promise.all(argvs.map(async (argv) => [argv.join(' '), await runCommand(argv)]))
    expect(citationsIn({ help, ...Object.fromEntries(printed) })).toEqual([])
  })

  it('cite no document in the explanation of any operation', async () => {
    const operations = mappings.flatMap((mapping) => mapping.operations)
    const lines = operations.map(({ method, template }) => `${method} ${template.replace(/\{[^}]*\}/g, 'aa')}?unknown=1`)
    const explained = await Promise.all(lines.map((line) => explain(line)))
    expect(citationsIn(explained)).toEqual([])
    for (const { code, out } of explained) expect([code, out[0]]).toEqual([0, '#'])
  })

  it('cite no document in the README and the pages of docs', () => {
    const pages = ['README.md', 'SECURITY.md', 'CHANGELOG.md', ...DOCS]
    const read = pages.filter((page) => page.endsWith('.md')).map((page) => [page, readFileSync(new URL(page, ROOT), 'utf8').split('\n')])
    expect(citationsIn(Object.fromEntries(read))).toEqual([])
  })
})

/** Adds a body with an unknown member, so that the reason for dropping it is printed. */
const explain = (line: string) =>
  /^(POST|PUT|PATCH)/.test(line)
    ? runCommand(['explain', line, '--type', 'application/json', '--data', '-'], {}, '{"unknown": 1}')
    : runCommand(['explain', line])
