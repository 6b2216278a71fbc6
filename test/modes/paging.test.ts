import { afterEach, describe, expect, it } from 'vitest'
import { ALL_V2 } from '../../src/migrate/modes/rules.ts'
import { type Stage, startStage } from '../stage/stage.ts'

let stage: Stage
afterEach(() => stage.close())

const TAGS = '/registry/v1/eoltags?page_size=5'

/** Reads every page of a list by the tokens that the client is given. */
async function pages(most = 4): Promise<string[]> {
  const ids: string[] = []
  let token = ''
  for (let nth = 0; nth < most; nth += 1) {
    const { body } = await stage.request('GET', `${TAGS}${token && `&page_token=${encodeURIComponent(token)}`}`)
    ids.push(...body.items.map(({ id }: { id: string }) => id))
    await stage.settled()
    token = body.next_page_token
  }
  return ids
}

/** Returns the tokens that each side received, and whether the other side had issued them. */
async function tokens(side: 'v1' | 'v2') {
  const journal = await stage.journal()
  return journal.filter(({ path }) => path.startsWith(`/registry/${side}/`)).flatMap(({ query }) => query.page_token ?? [])
}

describe.each(['diff-v1', 'diff-v2'] as const)('a list read page by page in mode %s', (mode) => {
  it('is compared page by page, each side by its own tokens', async () => {
    stage = await startStage({ emulated: 'v2', modes: { ...ALL_V2, default: mode }, 'diff.learnEvery': 0 })
    const ids = await pages()
    expect(new Set(ids).size).toBe(20)
    const { operations, skipped } = await stage.evidence()
    expect(operations).toMatchObject([{ operation: 'registry.eol_tags.list', comparisons: 4, mismatches: 0, errors: 0, inconclusive: 0 }])
    expect(skipped.pageToken).toBe(0)
    const [v1, v2] = [new Set(await tokens('v1')), new Set(await tokens('v2'))]
    expect(v1.size).toBe(3)
    expect(v2.size).toBe(3)
    expect([...v1].filter((token) => v2.has(token))).toEqual([])
  })

  it('is served, not compared, and counted if its token is unknown', async () => {
    stage = await startStage({ emulated: 'v2', modes: ALL_V2 })
    const { body } = await stage.request('GET', TAGS)
    await stage.setModes({ default: mode })
    await stage.request('GET', `${TAGS}&page_token=${encodeURIComponent(body.next_page_token)}`)
    await stage.settled()
    const { operations, skipped } = await stage.evidence()
    expect([operations.map(({ n }) => n), skipped.pageToken]).toEqual(mode === 'diff-v2' ? [[0], 1] : [[], 0])
  })
})

it('a list stays with the side that began it, whatever the modes are by then', async () => {
  stage = await startStage({ emulated: 'v2', modes: ALL_V2 })
  const first = await stage.request('GET', TAGS)
  await stage.setModes({ default: 'v1' })
  await stage.clearJournal()
  const second = await stage.request('GET', `${TAGS}&pageToken=${encodeURIComponent(first.body.next_page_token)}`)
  expect(second.body.items).toHaveLength(5)
  expect((await stage.journal()).map(({ path }) => path.split('/')[2])).toEqual(['v2'])
  await stage.clearJournal()
  await stage.request('GET', TAGS)
  expect((await stage.journal()).map(({ path }) => path.split('/')[2])).toEqual(['v1'])
})
