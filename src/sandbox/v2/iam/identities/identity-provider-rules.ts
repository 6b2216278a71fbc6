import type { FieldViolation, PreconditionViolation } from '../../../status.ts'
import type { IdentityProvider, Oidc } from '../../../world/identity-model.ts'
import { inRoot, parentOf } from '../../../world/uid.ts'
import type { World } from '../../../world/world.ts'
import type { CreateAct, UpdateAct } from '../../resource.ts'
import { roleViolations } from '../roles/role-violations.ts'

const UNSET_RULE = 'CORRELATION_RULE_UNSPECIFIED'
const DEFAULT_RULE = 'CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID'

const credentialViolations = ({ oidc }: IdentityProvider): readonly FieldViolation[] =>
  oidc && oidc.clientSecret === '' && !oidc.pkceEnabled
    ? [{ field: 'oidc.client_secret', description: 'is required unless pkce_enabled is set' }]
    : []

export const newProviderViolations = (row: IdentityProvider, { world, parent }: CreateAct): readonly FieldViolation[] => [
  ...(inRoot(parent) ? [] : [{ field: 'parent', description: 'parent id must be an organization (root group)' }]),
  ...roleViolations(world, 'default_role', row.defaultRole, parent),
  ...credentialViolations(row),
]

/**
 * True if the request changes the secret: its mask names the secret, or everything with `*`. A mask of just `oidc` does not: no answer
 * shows the secret, so such an update would lose it (semantics §3.3).
 */
const writesSecret = (act: UpdateAct<IdentityProvider>): boolean => {
  const wildcard = act.query.text('update_mask').trim() === '*'
  const wholeOidc = act.touches('oidc.*')
  return wildcard || (act.touches('oidc.clientSecret') && !wholeOidc)
}

const keep = (oidc: Oidc, before: Oidc, act: UpdateAct<IdentityProvider>): Oidc => ({
  ...oidc,
  clientSecret: oidc.clientSecret === '' && !writesSecret(act) ? before.clientSecret : oidc.clientSecret,
  correlationRule: oidc.correlationRule === UNSET_RULE ? before.correlationRule : oidc.correlationRule,
})

/** The row with the values that an update keeps: the secret unless named, and the correlation rule, which cannot change. */
export const settleProvider = (row: IdentityProvider, act: UpdateAct<IdentityProvider>): IdentityProvider => {
  const before = act.previous.oidc
  return row.oidc && before ? { ...row, oidc: keep(row.oidc, before, act) } : row
}

const ruleOf = (oidc: Oidc): string => (oidc.correlationRule === UNSET_RULE ? DEFAULT_RULE : oidc.correlationRule)

const ruleViolations = ({ oidc }: IdentityProvider, { previous }: UpdateAct<IdentityProvider>): readonly FieldViolation[] =>
  oidc && previous.oidc && ruleOf(oidc) !== ruleOf(previous.oidc)
    ? [{ field: 'oidc.correlation_rule', description: 'cannot be changed' }]
    : []

export const changedProviderViolations = (row: IdentityProvider, act: UpdateAct<IdentityProvider>): readonly FieldViolation[] => {
  const settled = settleProvider(row, act)
  return [
    ...(act.touches('defaultRole') ? roleViolations(act.world, 'default_role', row.defaultRole, parentOf(row.uid)) : []),
    ...(act.touches('oidc') ? [...credentialViolations(settled), ...ruleViolations(settled, act)] : []),
  ]
}

export const providerBlockers = ({ uid }: IdentityProvider, { store }: World): readonly PreconditionViolation[] =>
  store.externalGroupRoleMappings.children(uid).length > 0
    ? [{ type: 'RESOURCE_NOT_EMPTY', description: 'cannot delete identity provider with external group role mappings' }]
    : []
