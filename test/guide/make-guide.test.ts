import { expect, it } from 'vitest'
import type { Client, OperationUse } from '../../src/migrate/clients.ts'
import { clientGuide } from '../../src/tools/guide.ts'
import { guideBlocks, markdownOf } from '../../src/tools/guide-pages.ts'
import { contextOf } from './guides.ts'

const DAY = 24 * 3_600_000

const use = (operation: string, more: Partial<OperationUse> = {}): OperationUse => ({
  operation,
  calls: 300,
  firstSeen: 0,
  lastSeen: 3 * DAY,
  modes: ['v1'],
  mismatches: 0,
  ...more,
})

function markdownFor(...operations: readonly OperationUse[]): string {
  const calls = operations.reduce((sum, one) => sum + one.calls, 0)
  const facts = { calls, lastSeen: 3 * DAY, mismatches: 0, couldMove: false, blockers: [], cautions: [] }
  const client: Client = { caller: 'c0ffee', subject: 'alice@example.com', ...facts, operations }
  return markdownOf(guideBlocks(clientGuide(client, contextOf('specification'))))
}

it('a guide says how many calls a day there are, if they were counted long enough', () => {
  expect(markdownFor(use('iam.groups.list'))).toContain('`GET /iam/v1/groups`: about 100 calls a day, 300 so far.')
  expect(markdownFor(use('iam.groups.list', { lastSeen: 60_000 }))).toContain('`GET /iam/v1/groups`: 300 calls.')
})

it('a guide names paths that no table knows, and values that v2 lacks, as what v2 cannot do', () => {
  const kind = { shape: 'a', path: [], query: [['include_upstream', 'true']] as const, samples: 1 }
  const markdown = markdownFor(
    use('unknown GET /registry/v1/repos/…/diff'),
    use('libraries.artifacts.list?include_upstream', { requests: [kind] }),
  )
  expect(markdown).toContain(
    '- `unknown GET /registry/v1/repos/…/diff` (about 100 calls a day, 300 so far): v1 answers it, and no table knows it. Nothing in v2 takes its place.',
  )
  expect(markdown).toContain(
    '`GET /libraries/v1/artifacts?include_upstream=true` (about 100 calls a day, 300 so far): v2 has no upstream packages. Closest in v2: leave it out',
  )
  expect(markdown).not.toContain('## What differs everywhere')
})

it('a guide shows every member of a body that was not seen, and merges kinds that look alike', () => {
  const kinds = ['a', 'b'].map((shape) => ({ shape, path: [['id'] as const], query: [], samples: 2 }))
  const markdown = markdownFor(use('iam.roles.update', { requests: kinds }))
  expect(markdown.match(/^### `PUT/gm)).toHaveLength(1)
  expect(markdown).toContain('Its body was not seen, so every member is shown.')
  expect(markdown).toContain('"capabilities":["CAP_')
})

it('a guide has the differences that a request can meet', () => {
  const of = (members: readonly string[]) =>
    markdownFor(use('iam.roles.create', { requests: [{ shape: 'a', path: [], query: [], members, samples: 1 }] }))
  expect(of(['name'])).toContain('**role-capabilities-required**')
  expect(of(['name', 'capabilities'])).not.toContain('role-capabilities-required')
})
