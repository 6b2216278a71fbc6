import { requireCapability } from '../../auth/rights/authorize.ts'
import type { Capability } from '../../auth/rights/capabilities.ts'
import { type Ask, callerOf } from '../../http/route.ts'
import { groups } from '../../v2/iam/groups/groups.ts'
import { acceptancesFor, acceptTerms } from '../../v2/iam/groups/terms.ts'
import { existing, uidParam } from '../../v2/reads.ts'
import type { World } from '../../world/world.ts'
import { decode } from '../decode.ts'
import { encode } from '../encode.ts'
import { arrange } from '../list.ts'
import { acceptedTerms, termsStatus } from '../messages/access.ts'
import type { Operation } from '../operation.ts'

function groupOf(ask: Ask, world: World, needed: Capability): string {
  const group = uidParam(ask, 'group')
  requireCapability(world, callerOf(ask), needed, group)
  return group
}

/** Terms (facts §3.10). */
export const termsOperations: readonly Operation[] = [
  {
    method: 'GET',
    template: '/iam/v1/terms/{group=**}',
    answer: (ask, world) => {
      const group = groupOf(ask, world, 'terms.list')
      const accepted = world.store.groups.get(group) ? acceptancesFor(world, group) : []
      const rows = arrange(accepted, ask.query)
      return { items: rows.map((row) => encode(row, termsStatus, world.options.v1Dialect)) }
    },
  },
  {
    method: 'POST',
    template: '/iam/v1/terms/{group=**}',
    message: acceptedTerms,
    answer: (ask, world) => {
      const group = groupOf(ask, world, 'terms.accept')
      const documentIds = (decode(ask.body, acceptedTerms)['documentIds'] ?? []) as readonly string[]
      existing(groups, world, group)
      acceptTerms(world, group, documentIds, callerOf(ask).identityUid)
      return encode({ group, documentIds }, acceptedTerms, world.options.v1Dialect)
    },
  },
]
