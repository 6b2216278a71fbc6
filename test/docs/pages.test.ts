import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { hasCurl } from '../cli/support.ts'
import { ALONE, MIGRATION, OPERATIONS } from './journeys.ts'
import { walkThrough } from './walk.ts'

it.skipIf(!hasCurl()).each(ALONE)(
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
  const generated = /^(facts|reference\/(configuration|differences|errors|grpc-methods|metrics))/
  const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md') && !generated.test(name))
  const sizes = pages.map((name) => ({ name, text: readFileSync(`docs/${name}`, 'utf8').trimEnd() }))
  expect(sizes.filter(({ text }) => text.split(/\s+/).length > 2500).map(({ name }) => name)).toEqual([])
  const long = sizes.filter(({ name, text }) => name.startsWith('how-to/') && text.split('\n').length > 80)
  expect(long.map(({ name }) => name)).toEqual([])
})
