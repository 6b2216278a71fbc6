import { createHash } from 'node:crypto'
import { issuerOf, lifetime } from '../auth/issuer.ts'
import { timestamp } from '../world/clock.ts'
import type { Random } from '../world/random.ts'
import type { World } from '../world/world.ts'
import type { Occurrence } from './announce.ts'

/** An event as sent, without the signature: each attempt signs it anew. */
export type CloudEvent = {
  readonly id: string
  /** CloudEvents 1.0, binary mode: attributes are headers, the body is the data (semantics §7.4). */
  readonly headers: Readonly<Record<string, string>>
  readonly content: string
}

/** A UUID of version 4. */
const uuid = (random: Random): string => {
  const hex = random.hex(16)
  const variant = '89ab'[random.below(4)]
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `${variant}${hex.slice(17, 20)}`, hex.slice(20)].join('-')
}

const prefixed = (extensions: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(extensions).map(([name, value]) => [`ce-${name}`, value]))

/** The event of an occurrence. */
export const cloudEventOf = (occurrence: Occurrence, world: World, random: Random): CloudEvent => {
  const { type, subject, group, sourcePath, bodyType, body, actor, extensions } = occurrence
  const id = uuid(random)
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Chainguard Enforce (sandbox)',
    traceparent: `00-${random.hex(16)}-${random.hex(8)}-01`,
    'ce-specversion': '1.0',
    'ce-id': id,
    'ce-source': world.baseUrl() + sourcePath,
    'ce-type': type,
    'ce-subject': subject,
    'ce-time': timestamp(world.clock),
    'ce-group': group,
    'ce-audience': 'customer',
    'ce-bodytype': bodyType,
    'ce-actor': actor,
    ...prefixed(extensions),
  }
  return { id, headers, content: JSON.stringify({ actor: { subject: actor }, body }) }
}

/** Seconds for which a signature is valid. */
const SIGNED_FOR = 300

/** `Bearer` and a token. It proves to the receiver the sender, the group and the integrity of the content (semantics §7.4). */
export const authorizationOf = async ({ content }: CloudEvent, group: string, world: World): Promise<string> => {
  const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`
  const issuer = await issuerOf(world)
  const claims = { iss: world.baseUrl(), aud: 'customer', sub: `webhook:${group}`, webhook: { digest }, ...lifetime(world, SIGNED_FOR) }
  return `Bearer ${await issuer.sign(claims, 'JWT')}`
}
