import { expect, it } from 'vitest'
import { differences } from '../../../mappings/differences.ts'
import type { SeenAnswer } from '../../../src/migrate/compare/compare.ts'
import { createProofs } from '../../../src/migrate/observe/proofs.ts'
import { asked, child, court, operations, seen } from '../../diff/given.ts'

const { judge, expected } = court(differences)

/** Judges two answers, where v1 answers every other read like this. Returns the outcome, and what v1 was asked for. */
async function judged(id: string, query: string, v1: object, v2: object, shown: (read: string) => SeenAnswer) {
  const reads: string[] = []
  const proofs = createProofs(
    asked(id, query),
    { judge, wants: expected.wants },
    {
      operations,
      ask: async (operation, request) => {
        reads.push([operation.id, ...[...request.query].map(([name, values]) => `${name}=${values}`)].join(' '))
        return { seen: shown(operation.id), ms: 1 }
      },
    },
  )
  const { outcome } = await proofs.judge(seen(v1), seen(v2))
  return { outcome, reads }
}

const NAMED = { id: child(1), name: 'n', description: 'd' }
const binding = (role: object) => ({ items: [{ id: child(2), role, identity: child(3), email_unverified: 'a' }] })
const refused = seen({ code: 7, message: 'no', details: [] }, 403)
const none = seen({ items: [] })

it.each([
  ['v1 refuses the caller', refused, 'expected'],
  ['v1 does not show it', none, 'expected'],
  ['v1 shows it', seen({ items: [{ ...NAMED, capabilities: ['a'] }] }), 'mismatch'],
  ['v1 does not answer', seen({}, 503), 'inconclusive'],
] as const)('a withheld part of a binding is proven by v1: %s', async (_, shown, outcome) => {
  const found = await judged('iam.role_bindings.list', 'id=x', binding({ ...NAMED, capabilities: ['a'] }), binding(NAMED), () => shown)
  expect(found).toEqual({ outcome, reads: [`iam.roles.list id=${child(1)}`] })
})

it('asks nothing if something else is wrong beside it, and nothing hides that', async () => {
  const found = await judged(
    'iam.role_bindings.list',
    '',
    binding({ ...NAMED, capabilities: ['a'] }),
    binding({ ...NAMED, name: 'x' }),
    () => none,
  )
  expect(found.outcome).toBe('mismatch')
})

const tags = (count: number, status: string) => ({
  items: Array.from({ length: count }, (_, nth) => ({ id: child(nth), name: `${nth}`, tag_status: status })),
  next_page_token: '',
})
const shownTags = (count: number, deprecated: boolean) =>
  seen({ items: Array.from({ length: count }, (_, nth) => ({ id: child(nth), deprecated })) })

it.each([
  ['TAG_ACTIVE', 'TAG_INACTIVE', true, 'expected'],
  ['TAG_ACTIVE', 'TAG_INACTIVE', false, 'mismatch'],
  ['TAG_IN_GRACE', 'TAG_ACTIVE', false, 'expected'],
  ['TAG_INACTIVE', 'TAG_ACTIVE', true, 'mismatch'],
] as const)('the status of a tag is proven by the tag: %s and %s, deprecated %s', async (v1, v2, deprecated, outcome) => {
  const found = await judged('registry.eol_tags.list', '', tags(1, v1), tags(1, v2), () => shownTags(1, deprecated))
  expect(found).toEqual({ outcome, reads: [`registry.tags.list id=${child(0)}`] })
})

it('looks for many resources in one list, with the filters of the request and without its window', async () => {
  const query = `uidp.childrenOf=${child(9)}&name=x&limit=9`
  const found = await judged('registry.eol_tags.list', query, tags(9, 'TAG_ACTIVE'), tags(9, 'TAG_INACTIVE'), () => shownTags(9, true))
  expect(found).toEqual({ outcome: 'expected', reads: [`registry.tags.list uidp.childrenOf=${child(9)} name=x`] })
})
