import { afterEach, describe, expect, it } from 'vitest'
import { type Stage, startStage } from '../stage/stage.ts'

let stage: Stage
afterEach(() => stage.close())

const REPOS = '/registry/v1/repos?order_by=name'

describe('a read', () => {
  it.each(['v1', 'v2', 'diff-v1', 'diff-v2'] as const)('in mode %s has the same answer', async (mode) => {
    stage = await startStage()
    const before = await stage.request('GET', REPOS)
    await stage.clearJournal()
    await stage.setModes({ default: mode })
    const { status, body } = await stage.request('GET', REPOS)
    expect([status, body]).toEqual([200, before.body])
    await stage.settled()
    const sides = new Set((await stage.journal()).map(({ path }) => path.split('/')[2]))
    const asked = { v1: ['v1'], v2: ['v2'], 'diff-v1': ['v1', 'v2'], 'diff-v2': ['v1', 'v2'] }[mode]
    expect([...sides].sort()).toEqual(asked)
    const { operations } = await stage.evidence()
    expect(operations.map(({ operation, matches, mismatches }) => ({ operation, matches, mismatches }))).toEqual(
      asked.length === 2 ? [{ operation: 'registry.repos.list', matches: 1, mismatches: 0 }] : [],
    )
  })
})
