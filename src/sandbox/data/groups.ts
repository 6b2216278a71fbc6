import { PUBLIC_CATALOG_UID } from '../public-catalog.ts'
import type { Group } from '../world/iam-model.ts'
import { dated, fixtureUid } from './fixture.ts'

/** An organization with the limits of a customer. */
export const organization = (name: string, members: Partial<Group> = {}): Group => ({
  uid: fixtureUid('', `organization ${name}`),
  name,
  description: '',
  resourceLimits: { clusters: 0, idps: 1, repositories: 500 },
  verified: true,
  kind: 'ORG_KIND_CUSTOMER',
  status: 'ORG_STATUS_READY',
  ...dated('2026-01-05T08:00:00.000Z'),
  ...members,
})

/** A folder. Kind and status are those of its organization (semantics §3.1). */
export const folder = (parent: Group, name: string, description = ''): Group => ({
  ...parent,
  uid: fixtureUid(parent.uid, `folder ${name}`),
  name,
  description,
  resourceLimits: {},
  verified: false,
  ...dated('2026-01-06T08:00:00.000Z'),
})

export const exampleCom = organization('example.com', { description: 'The demo organization' })
export const platform = folder(exampleCom, 'platform', 'Build and release')
export const payments = folder(exampleCom, 'payments')
export const paymentsStaging = folder(payments, 'payments-staging')
export const acmeDev = organization('acme.dev', { kind: 'ORG_KIND_STARTER' })

/** The description holds a line break, as public samples do: stored data may break a rule for input (semantics §3.0). */
export const publicCatalog = organization('chainguard', {
  uid: PUBLIC_CATALOG_UID,
  description: 'The public catalog.\nEverybody may sync from it.',
  resourceLimits: {},
  verified: false,
  kind: 'ORG_KIND_INFRA',
})

export const demoGroups: readonly Group[] = [
  exampleCom,
  platform,
  payments,
  paymentsStaging,
  folder(exampleCom, 'sandbox', 'Anything goes'),
  acmeDev,
  publicCatalog,
]
