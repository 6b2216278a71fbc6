import type { Dataset, Rows } from '../dataset.ts'
import { exampleCom, organization } from '../groups.ts'
import { bindUsers, builtInRoleRows, tokensOf, userRows } from '../users.ts'
import { demoAccess } from './demo-access.ts'
import { demoAdvisories } from './demo-advisories.ts'
import { demoEvents } from './demo-events.ts'
import { demoLibraries } from './demo-libraries.ts'
import { demoRegistry } from './demo-registry.ts'

const EVERYBODY = ['owner', 'editor', 'viewer', 'outsider', 'admin'] as const

/** The rows that do not depend on the time. Rows are never changed in place, so that all sandboxes of a process share them. */
let timeless: readonly Rows[] | undefined

const timelessRows = (): readonly Rows[] => {
  timeless ??= [...demoRegistry(), demoAdvisories(), demoLibraries(), demoEvents]
  return timeless
}

/** Three organizations with about 5,000 tags: `example.com` to work in, `acme.dev` to prove isolation, the public catalog to sync from. */
export const demoDataset = (now: number): Dataset => ({
  rows: [...demoAccess(now), ...timelessRows()],
  tokens: tokensOf(EVERYBODY),
  organization: exampleCom.uid,
})

/** One organization and its users, otherwise empty. */
export const emptyDataset = (): Dataset => {
  const only = organization('example.com')
  return {
    rows: [
      {
        groups: [only],
        roles: builtInRoleRows,
        identities: userRows(EVERYBODY),
        roleBindings: bindUsers(only.uid, ['owner', 'editor', 'viewer']),
      },
    ],
    tokens: tokensOf(EVERYBODY),
    organization: only.uid,
  }
}
