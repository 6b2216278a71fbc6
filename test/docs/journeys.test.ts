import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { hasCurl } from '../app/cli/support.ts'
import { sampled } from '../sample.ts'
import { ALONE, MIGRATION, OPERATIONS, SAMPLED, walkThrough } from './pages.ts'

it.skipIf(!hasCurl()).each([
  ['of a migration', MIGRATION, 11],
  ['for the person on call', OPERATIONS, 12],
] as const)(
  'the pages %s run word for word on the sandbox',
  async (_, pages, outputs) => {
    expect(await walkThrough(pages, SAMPLED)).toBeGreaterThan(SAMPLED ? 2 : outputs)
  },
  240_000,
)

describe('pages', () => {
  it.skipIf(!hasCurl()).each(sampled(ALONE, 7))(
    'runs %s word for word on the sandbox',
    async (page, outputs) => {
      expect(await walkThrough([page])).toBe(outputs)
    },
    120_000,
  )

  it('runs every page that shows commands, once', () => {
    const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`)
    const shown = ['README.md', ...pages].filter((page) => page.endsWith('.md') && readFileSync(page, 'utf8').includes('```sh\n'))
    const run = [...MIGRATION, ...OPERATIONS, ...ALONE.map(([page]) => page)]
    expect(run.toSorted()).toEqual(shown.toSorted())
  })

  it('keeps a page within 2,500 words, and one that shows how to do a task within 80 lines', () => {
    const sizes = pagesOfOurs().filter(({ name }) => !GENERATED.test(name))
    expect(sizes.filter(({ words }) => words > 2500).map(({ name }) => name)).toEqual([])
    const long = sizes.filter(({ name, lines }) => lines > (name.startsWith('docs/how-to/') ? 80 : name === 'docs/glossary.md' ? 45 : 2500))
    expect(long.map(({ name }) => name)).toEqual([])
  })

  it('keeps the words that people wrote within 25,000', () => {
    const own = pagesOfOurs().filter(({ name }) => !WRITTEN.test(name))
    const told = 'leave out as many words elsewhere: docs/facts, the changelog and what a program writes do not count'
    expect(
      own.reduce((sum, { own }) => sum + own, 0),
      told,
    ).toBeLessThanOrEqual(25_000)
  })

  /** Pages that a program writes. */
  const WRITTEN = /^docs\/reference\/(differences|errors|grpc-methods|metrics)\.md$/

  /** Sections that one writes. */
  const SECTIONS = /<!-- (\w+):start -->[\s\S]*?<!-- \1:end -->|<!-- (figures|goals): written[\s\S]*?<!-- end of \2 -->/g

  /** Pages that a program writes, or whose tables it writes. */
  const GENERATED = /^docs\/reference\/(configuration|differences|errors|events|grpc-methods|metrics)\.md$/

  /** Every page but the facts, which are given, and the changelog. */
  function pagesOfOurs(): readonly { readonly name: string; readonly words: number; readonly own: number; readonly lines: number }[] {
    const below = readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`)
    const names = [
      ...below.filter((name) => name.endsWith('.md') && !name.startsWith('docs/facts/')),
      'README.md',
      'CONTRIBUTING.md',
      'SECURITY.md',
      ...readdirSync('examples').map((name) => `examples/${name}/README.md`),
    ]
    return names.map((name) => {
      const text = readFileSync(name, 'utf8').trim()
      const own = text.replaceAll(SECTIONS, '')
      return { name, words: text.split(/\s+/).length, own: own.split(/\s+/).length, lines: text.split('\n').length }
    })
  }
})
