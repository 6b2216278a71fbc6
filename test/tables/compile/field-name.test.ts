import { expect, it } from 'vitest'
import { nested, object, objects, text } from '../../../src/tables/fields.ts'
import { v1FieldName } from '../../../src/tables/operations.ts'
import { message } from '../../../src/tables/resource.ts'

const request = message('request', {
  identity: text('identityUid'),
  claim_match: object('claimMatch', { issuer_pattern: text('issuerPattern') }),
  role_bindings: objects('requests', { identity: text('roleBinding.identityUid'), tags: objects('labels', { key: text('k') }) }),
  onboarding_questions: nested({ company_name: text('company') }),
})
const nameOf = v1FieldName({ group: 'parent_filter' }, request, message('answer', { id: text('uid') }))

it.each([
  ['identityUid', 'identity'],
  ['identity_uid', 'identity'],
  ['claim_match.issuer_pattern', 'claim_match.issuer_pattern'],
  ['claimMatch.issuerPattern', 'claim_match.issuer_pattern'],
  ['company', 'onboarding_questions.company_name'],
  ['requests', 'role_bindings'],
  ['requests[2]', 'role_bindings[2]'],
  ['requests[2].role_binding.identity_uid', 'role_bindings[2].identity'],
  ['requests[2].labels[0].k', 'role_bindings[2].tags[0].key'],
  ['uid', 'id'],
  ['parent_filter', 'group'],
  ['somethingElse[1]', 'somethingElse[1]'],
])('renames v2’s %s to v1’s %s', (v2, v1) => {
  expect(nameOf(v2)).toBe(v1)
})

it('keeps a path that is longer than any of the tables', () => {
  const path = `requests${'[]'.repeat(1_000_000)}`
  expect(nameOf(path)).toBe(path)
})
