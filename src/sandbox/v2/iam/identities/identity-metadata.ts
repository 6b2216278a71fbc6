import { callerOf, ok, type Route } from '../../../http/route.ts'
import { decode } from '../../../messages/decode.ts'
import { applyMask, explicitMask, type Mask } from '../../../messages/field-mask.ts'
import { type Draft, fill, flag, isObject, isZero, type Message, outputText, text } from '../../../messages/message.ts'
import { render } from '../../../messages/render.ts'
import { malformed, notFound } from '../../../status.ts'
import { timestamp } from '../../../world/clock.ts'
import type { Identity, IdentityMetadata } from '../../../world/identity-model.ts'

/** The answers of a user at sign-up (semantics §3.2). */
export const identityMetadataMessage: Message = {
  name: 'chainguard.platform.iam.v2.IdentityMetadata',
  fields: {
    uid: outputText,
    name: outputText,
    givenName: outputText,
    familyName: outputText,
    company: text(),
    updatesOptIn: flag(),
    product: text(),
    jobTitle: text(),
    utmCampaign: text(),
    utmContent: text(),
    utmMedium: text(),
    utmSource: text(),
    utmTerm: text(),
    latestFormSubmitUrl: text(),
    latestInternalReferringUrl: text(),
    hubspotUtk: text(),
    selfServe: flag(),
  },
}

/** The metadata of an identity. The company is a member of the identity itself. */
export const metadataOf = (identity: Identity): Draft =>
  fill(identityMetadataMessage, { ...identity.metadata, uid: identity.uid, name: identity.name, company: identity.company })

/** In a JSON body a mask is one string of camelCase paths. `*` and snake_case are invalid there (facts §13.3). */
const bodyMask = (mask: string): Mask => {
  if (!/^[a-z][A-Za-z0-9]*(,[a-z][A-Za-z0-9]*)*$/.test(mask)) malformed(`proto: invalid FieldMask ${JSON.stringify(mask)}`)
  return explicitMask(identityMetadataMessage, mask)
}

/** Without a mask: the members with a value, because no gateway sees which members the body named (semantics §6). */
const populatedMask = (input: Draft): Mask =>
  Object.entries(identityMetadataMessage.fields)
    .filter(([name, field]) => !isZero(field, input[name]))
    .map(([name]) => [name])

const readRequest = (body: unknown): { readonly input: Draft; readonly mask: Mask } => {
  const members = isObject(body) ? body : {}
  const input = decode(identityMetadataMessage, members.identityMetadata ?? members.identity_metadata ?? {})
  const mask = members.updateMask ?? members.update_mask ?? ''
  if (typeof mask !== 'string') return malformed(`proto: invalid FieldMask ${JSON.stringify(mask)}`)
  return { input, mask: mask === '' ? populatedMask(input) : bodyMask(mask) }
}

/** Writes the members of `mask` from `input` to the metadata of an identity. */
export const withMetadata = (identity: Identity, input: Draft, mask: Mask, now: string): Identity => {
  const { uid: _uid, name: _name, ...metadata } = applyMask(identityMetadataMessage, metadataOf(identity), input, mask)
  const { company } = metadata as IdentityMetadata
  return { ...identity, company, metadata: metadata as IdentityMetadata, updateTime: now }
}

/** `PATCH /iam/v2/identities:updateIdentityMetadata` always updates the caller's own identity. */
export const identityMetadataRoute: Route = {
  method: 'PATCH',
  template: '/iam/v2/identities:updateIdentityMetadata',
  auth: 'required',
  handle: (ask, world) => {
    const { input, mask } = readRequest(ask.body)
    const { identityUid } = callerOf(ask)
    const identity = world.store.identities.get(identityUid) ?? notFound('iam.Identity', identityUid)
    const changed = mask.length === 0 ? identity : withMetadata(identity, input, mask, timestamp(world.clock))
    world.store.identities.put(changed)
    return ok(render(identityMetadataMessage, metadataOf(changed)))
  },
}
