import { expect, test } from 'vitest'
import { ruleOf } from '../../../src/sandbox/events/rules.ts'
import { serviceRoutes } from '../../../src/sandbox/start.ts'
import { SILENT } from './silent.ts'

const nameOf = ({ method, template }: { readonly method: string; readonly template: string }): string => `${method} ${template}`

test('gives every write of either version an event, except the silent ones', () => {
  const writes = serviceRoutes.filter(({ method }) => method !== 'GET')
  expect(
    writes
      .filter((route) => !ruleOf(route))
      .map(nameOf)
      .sort(),
  ).toEqual([...SILENT].sort())
})

test('gives no read an event', () => {
  expect(serviceRoutes.filter(({ method }) => method === 'GET').filter(ruleOf)).toEqual([])
})

test.each([
  ['POST', '/iam/v2/roleBindings:batchCreate', 'iam.rolebindings.created.batch.v1', 'iam.v2.BatchCreateRoleBindingsResponse'],
  ['DELETE', '/iam/v2/groupInvites/{uid=**}', 'iam.group_invite.deleted.v1', 'iam.v2.DeleteGroupInviteRequest'],
  ['PUT', '/iam/v1/account_associations/{group=**}', 'iam.account_associations.updated.v1', 'iam.AccountAssociations'],
  ['POST', '/iam/v2/terms/{group=**}', 'iam.terms.accepted.v1', 'iam.v2.AcceptTermsResponse'],
  ['PATCH', '/registry/v2/repos/{uid=**}/readme', 'platform.registry.repo.updated.v1', 'registry.v2.RepoReadme'],
  ['POST', '/registry/v2/tags/{parent=**}', 'platform.registry.tag.created.v1', 'registry.v2.Tag'],
  ['DELETE', '/events/v1/subscriptions/{id=**}', 'events.subscription.deleted.v1', 'events.DeleteSubscriptionRequest'],
] as const)('gives %s %s its event', (method, template, event, bodyType) => {
  expect(ruleOf({ method, template })).toMatchObject({ event, bodyType })
})
