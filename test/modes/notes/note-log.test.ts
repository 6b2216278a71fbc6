import { expect, it } from 'vitest'
import { logNotes } from '../../../src/app/server/migration.ts'
import type { Actor, Note } from '../../../src/migrate/records/record.ts'

const lineOf = (note: Omit<Note, 'kind' | 'at'>) => {
  const lines: unknown[] = []
  const at = (level: string) => (members: object, text: string) => void lines.push([level, text, members])
  logNotes({ info: at('info'), warn: at('warn') } as never)({ kind: 'note', id: 'x', at: '1970-01-01T00:00:00Z', ...note })
  return lines
}

it('writes one line with the members of the record', () => {
  const members = { what: 'modes', by: { source: 'admin', token: 'alice' }, from: 'a', to: 'b', version: 2 } as const
  expect(lineOf({ ...members, text: 'alice: a → b' })).toEqual([['info', 'the modes changed: alice: a → b', members]])
})

it.each([
  ['rollout', 'turned-back (0 %)', 'warn'],
  ['rollout', 'paused at step 1 of 2 (5 %)', 'warn'],
  ['rollout', 'running at step 2 of 2 (50 %)', 'info'],
  ['admin', 'paused at step 1 of 2 (5 %)', 'info'],
] as const)('of a rollout that the %s moved to "%s" has the level %s', (source: Actor['source'], to, level) => {
  const note = { what: 'rollout', rollout: 'iam', by: { source }, to, text: 'rollout iam: why' } as const
  expect(lineOf(note)).toMatchObject([[level, 'rollout iam: why', { rollout: 'iam', to }]])
})
