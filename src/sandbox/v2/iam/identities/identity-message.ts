import { type Check, choice, listOf, type Message, mapOf, nested, outputText, outputTime, text, time } from '../../../messages/message.ts'
import { descriptionRule, matching, nameRule } from '../../../messages/validate.ts'

/** By number (facts §18). The first means no principal. */
const SERVICE_PRINCIPALS: readonly string[] = [
  'UNSPECIFIED',
  'COSIGNED',
  'INGESTER',
  'CATALOG_SYNCER',
  'APKO_BUILDER',
  'ENTITLEMENT_SYNCER',
  'TENANT_SCANNER',
  'SEDIMENTOLOGY',
  'SKILLUP',
  'MATERIALIZER',
  'MICROFLOW',
  'GUARDENER',
  'MICROVM',
  'SKILLS',
].map((name) => `SERVICE_PRINCIPAL_${name}`)

/** Twelve digits (semantics §3.0). */
export const awsAccountRule = matching('account', /^[0-9]{12}$/)

const patternRule: Check = (pattern: string) => {
  try {
    new RegExp(pattern)
    return undefined
  } catch {
    return 'must be a regular expression'
  }
}

const patternsRule: Check = (patterns: Readonly<Record<string, string>>) =>
  Object.values(patterns)
    .map((pattern) => patternRule(pattern as never))
    .find((description) => description !== undefined)

const isKeySet = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys) && value.keys.length > 0

const keySetRule: Check = (json: string) => {
  try {
    if (isKeySet(JSON.parse(json))) return undefined
  } catch {
    // Text that is not JSON gets the same message as JSON that is not a key set.
  }
  return 'must be a JSON Web Key Set with at least one key'
}

const oneAudienceRule: Check = (audiences: readonly string[]) => (audiences.length > 1 ? 'must hold exactly one audience' : undefined)

const claimMatchMessage: Message = {
  name: 'chainguard.platform.iam.v2.Identity.ClaimMatch',
  fields: {
    issuer: text({ oneof: 'iss' }),
    issuerPattern: text({ oneof: 'iss', check: patternRule }),
    subject: text({ oneof: 'sub' }),
    subjectPattern: text({ oneof: 'sub', check: patternRule }),
    audience: text({ oneof: 'aud' }),
    audiencePattern: text({ oneof: 'aud', check: patternRule }),
    claims: mapOf(text()),
    claimPatterns: mapOf(text(), { check: patternsRule }),
  },
}

const staticKeysMessage: Message = {
  name: 'chainguard.platform.iam.v2.Identity.StaticKeys',
  fields: {
    issuer: text({ required: true }),
    subject: text({ required: true }),
    issuerKeys: text({ required: true, check: keySetRule }),
    expirationTime: time(),
    audiences: listOf(text(), { check: oneAudienceRule }),
  },
}

const awsIdentityMessage: Message = {
  name: 'chainguard.platform.iam.v2.Identity.AWSIdentity',
  fields: {
    awsAccount: text({ required: true, check: awsAccountRule }),
    arn: text({ oneof: 'aws_arn' }),
    arnPattern: text({ oneof: 'aws_arn', check: patternRule }),
    userId: text({ oneof: 'aws_user_id' }),
    userIdPattern: text({ oneof: 'aws_user_id', check: patternRule }),
  },
}

/** (specification §2, semantics §3.2) */
export const identityMessage: Message = {
  name: 'chainguard.platform.iam.v2.Identity',
  fields: {
    uid: outputText,
    name: text({ required: true, check: nameRule }),
    description: text({ check: descriptionRule }),
    email: outputText,
    emailUnverified: outputText,
    company: text(),
    lastSeenTime: outputTime,
    createTime: outputTime,
    updateTime: outputTime,
    claimMatch: nested(claimMatchMessage, { oneof: 'relationship' }),
    staticKeys: nested(staticKeysMessage, { oneof: 'relationship' }),
    awsIdentity: nested(awsIdentityMessage, { oneof: 'relationship' }),
    servicePrincipal: choice(SERVICE_PRINCIPALS, { oneof: 'relationship' }),
  },
}
