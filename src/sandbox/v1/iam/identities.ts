import { lookupIdentityUid } from '../../auth/lookup.ts'
import { callerOf } from '../../http/route.ts'
import { explicitMask } from '../../messages/field-mask.ts'
import { invalidArgument, notFound } from '../../status.ts'
import { identities } from '../../v2/iam/identities/identities.ts'
import { identityMetadataMessage, metadataOf, withMetadata } from '../../v2/iam/identities/identity-metadata.ts'
import { timestamp } from '../../world/clock.ts'
import type { Identity } from '../../world/identity-model.ts'
import { type Decoded, decode } from '../decode.ts'
import { encode, encodeResource } from '../encode.ts'
import { listOperation } from '../list.ts'
import { identity, identityMetadata } from '../messages/identities.ts'
import type { Operation } from '../operation.ts'
import { createOperation, deleteOperation, replaceOperation, type Written } from '../writes.ts'

const written: Written<Identity> = { resource: identities, path: '/iam/v1/identities', message: identity }

const RELATIONSHIPS = ['claimMatch', 'staticKeys', 'awsIdentity', 'servicePrincipal']

/** A PUT without a relationship keeps the stored one, because every identity needs one (facts §13). */
const replaced = (body: Decoded): readonly string[] => ['name', 'description', ...RELATIONSHIPS.filter((member) => member in body)]

/** The whole identity of an issuer and subject, for any caller. An unregistered pair is NOT_FOUND (facts §3.2). */
const lookup: Operation = {
  method: 'GET',
  template: `${written.path}/lookup`,
  answer: ({ query }, world) => {
    const missing = ['issuer', 'subject'].filter((name) => query.text(name) === '')
    if (missing.length > 0) invalidArgument(missing.map((field) => ({ field, description: 'is required' })))
    const uid = lookupIdentityUid(world, query.text('issuer'), query.text('subject'))
    return encodeResource(world.store.identities.get(uid) ?? notFound('iam.Identity', uid), identity, world.options.v1Dialect)
  },
}

/** Flattens a metadata body to its stored form, which has no `providers` (facts §3.3). */
function flatten({ onboardingQuestions = {}, name: _name, givenName: _given, familyName: _family, ...own }: Decoded): Decoded {
  const { providers: _providers, ...questions } = onboardingQuestions as Decoded
  return { ...questions, ...own }
}

/** The caller's own metadata: a PATCH without a mask, which changes the members that the body names (facts §13.8). */
const patchMetadata: Operation = {
  method: 'PATCH',
  template: `${written.path}/metadata`,
  message: identityMetadata,
  answer: (ask, world) => {
    const { identityUid } = callerOf(ask)
    const input = flatten(decode(ask.body, identityMetadata))
    const own = world.store.identities.get(identityUid) ?? notFound('iam.Identity', identityUid)
    const mask = explicitMask(identityMetadataMessage, Object.keys(input).join(','))
    const changed = mask.length === 0 ? own : withMetadata(own, input, mask, timestamp(world.clock))
    world.store.identities.put(changed)
    const flat = metadataOf(changed)
    return encode({ ...flat, onboardingQuestions: flat }, identityMetadata, world.options.v1Dialect)
  },
}

/** Identities (facts §3.2, §3.3). */
export const identityOperations: readonly Operation[] = [
  listOperation({ ...written, idParameter: 'id', scoped: true }),
  lookup,
  patchMetadata,
  createOperation(written, 'parent_id'),
  replaceOperation(written, replaced),
  deleteOperation(written),
]
