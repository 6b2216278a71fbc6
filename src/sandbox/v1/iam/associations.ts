import { requireCapability } from '../../auth/rights/authorize.ts'
import { callerOf } from '../../http/route.ts'
import { invalidField } from '../../status.ts'
import { accountAssociations, checkProvider } from '../../v2/iam/groups/account-associations.ts'
import { existing, uidParam } from '../../v2/reads.ts'
import type { AccountAssociation } from '../../world/iam-model.ts'
import { decode } from '../decode.ts'
import { encode } from '../encode.ts'
import { byName, listOperation } from '../list.ts'
import { accountAssociation, checkAnswer, checkRequest } from '../messages/associations.ts'
import type { Operation } from '../operation.ts'
import { relaxed } from '../relaxed.ts'
import { createOperation, deleteOperation, replaceOperation, type Written } from '../writes.ts'

const written: Written<AccountAssociation> = {
  resource: relaxed(accountAssociations, 'name'),
  path: '/iam/v1/account_associations',
  message: accountAssociation,
}

const REPLACED = ['name', 'description', 'amazon', 'google', 'github', 'chainguard', 'azure']

/** Stored name of an account type → the member that holds the account. */
const providers: ReadonlyMap<unknown, 'google' | 'amazon' | 'azure'> = new Map([
  ['ACCOUNT_PROVIDER_TYPE_GOOGLE', 'google'],
  ['ACCOUNT_PROVIDER_TYPE_AMAZON', 'amazon'],
  ['ACCOUNT_PROVIDER_TYPE_AZURE', 'azure'],
])

const check: Operation = {
  method: 'POST',
  template: `${written.path}/{group=**}:check`,
  message: accountAssociation,
  answer: (ask, world) => {
    const uid = uidParam(ask, 'group')
    requireCapability(world, callerOf(ask), 'account_associations.list', uid)
    const provider = providers.get(decode(ask.body, checkRequest)['providerType']) ?? invalidField('account_type', 'is required')
    return encode(checkProvider(existing(accountAssociations, world, uid), provider), checkAnswer, world.options.v1Dialect)
  },
}

/** Account associations (facts §3.7): one for each group, whose id is the group's. */
export const associationOperations: readonly Operation[] = [
  listOperation({ ...written, idParameter: 'group', scoped: false, filters: byName }),
  createOperation(written, 'group'),
  replaceOperation(written, () => REPLACED, 'group'),
  deleteOperation(written, 'group'),
  check,
]
