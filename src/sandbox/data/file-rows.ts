import { z } from 'zod'
import { decode, memberOf } from '../messages/decode.ts'
import { type Draft, fill, type Message } from '../messages/message.ts'
import { isStatusError } from '../status.ts'
import { imageUid } from '../v2/registry/images.ts'
import type { Row } from '../world/model.ts'
import type { Store } from '../world/store.ts'
import { parentOf, validUid } from '../world/uid.ts'
import { COLLECTIONS } from './collections.ts'
import type { Rows } from './dataset.ts'

type Name = keyof Store

const names = Object.keys(COLLECTIONS) as readonly Name[]
const shape = z.strictObject(Object.fromEntries(names.map((name) => [name, z.array(z.record(z.string(), z.unknown())).optional()])))

/** Stops the start with a sentence that names the position in the file. */
const fail = (where: string, what: string): never => {
  throw new Error(`data: ${where}: ${what}`)
}

const parse = (content: unknown): Readonly<Record<string, readonly Draft[] | undefined>> => {
  const result = shape.safeParse(content)
  if (result.success) return result.data as Readonly<Record<string, readonly Draft[] | undefined>>
  const [issue] = result.error.issues
  return fail(issue?.path.join('.') || 'top level', `${issue?.message} (collections are ${names.join(', ')})`)
}

/** Restores the row of members that an API answer hydrates, and its key if the API does not show it. */
const OWN_UIDS: Partial<Record<Name, (draft: Draft) => Draft>> = {
  roleBindings: ({ identity, role, group: _group, ...draft }) => ({
    ...draft,
    identityUid: draft['identityUid'] ?? (identity as Draft | undefined)?.['uid'],
    roleUid: draft['roleUid'] ?? (role as Draft | undefined)?.['uid'],
  }),
  groupInvites: ({ role: _role, ttl: _ttl, ...draft }) => draft,
  externalGroupRoleMappings: (draft) => ({ ...draft, identityProviderUid: draft['identityProviderUid'] ?? parentOf(String(draft['uid'])) }),
  termsAcceptances: (draft) => ({ ...draft, uid: `${draft['orgUid']}/${draft['docId']}` }),
  documents: (draft) => ({ ...draft, uid: draft['id'] }),
  vulnerabilityMetadata: (draft) => ({ ...draft, uid: draft['id'] }),
  images: (draft) => ({ ...draft, uid: imageUid(String(draft['repoUid']), String(draft['digest'])) }),
}

const decodeAt = (where: string, message: Message, draft: Draft): Draft => {
  const unknown = Object.keys(draft).find((key) => memberOf(message, key) === undefined)
  if (unknown !== undefined) fail(where, `has no member ${JSON.stringify(unknown)}`)
  try {
    return decode(message, draft)
  } catch (error) {
    return isStatusError(error) ? fail(where, error.message) : fail(where, String(error))
  }
}

/** Collections whose rows have no uid, or an id in its place. */
const KEYED: ReadonlySet<Name> = new Set<Name>([
  'termsAcceptances',
  'images',
  'documents',
  'vulnerabilityMetadata',
  'artifacts',
  'artifactVersions',
])

const toRow = (name: Name, where: string, draft: Draft, now: string): Row => {
  const message = COLLECTIONS[name]
  const decoded = decodeAt(where, message, draft)
  const dates = Object.fromEntries(['createTime', 'updateTime'].filter((key) => key in message.fields).map((key) => [key, now]))
  const expiry = name === 'groupInvites' ? { expirationTime: now } : {}
  const own = OWN_UIDS[name]?.(decoded) ?? decoded
  const row = fill(message, { ...dates, ...expiry, ...own }) as unknown as Row
  if (!KEYED.has(name) && !validUid(row.uid)) fail(`${where}.uid`, 'must be 40 hex digits, followed by /16 hex digits for each level below')
  return row
}

const rowsOf = (name: Name, drafts: readonly Draft[], now: string): readonly Row[] => {
  const seen = new Set<string>()
  return drafts.map((draft, index) => {
    const row = toRow(name, `${name}[${index}]`, draft, now)
    if (seen.has(row.uid)) fail(`${name}[${index}].uid`, `${row.uid} is there twice`)
    seen.add(row.uid)
    return row
  })
}

/** The collection that must hold the parents of a collection's rows. Groups, identities and roles may also be root rows. */
const PARENTS: Partial<Record<Name, Name>> = {
  groups: 'groups',
  identities: 'groups',
  identityProviders: 'groups',
  roles: 'groups',
  roleBindings: 'groups',
  groupInvites: 'groups',
  externalGroupRoleMappings: 'identityProviders',
  repos: 'groups',
  tags: 'repos',
  advisories: 'groups',
  subscriptions: 'groups',
}

const ROOTED: ReadonlySet<Name> = new Set(['groups', 'identities', 'roles'])

const checkParents = (rows: Readonly<Record<Name, readonly Row[]>>): void => {
  for (const [name, parents] of Object.entries(PARENTS) as [Name, Name][]) {
    const known = new Set(rows[parents].map(({ uid }) => uid))
    const orphan = rows[name].findIndex(({ uid }) => !known.has(parentOf(uid)) && !(ROOTED.has(name) && parentOf(uid) === ''))
    if (orphan >= 0)
      fail(`${name}[${orphan}].uid`, `the file has no ${parents} entry for its parent ${JSON.stringify(parentOf(rows[name][orphan]!.uid))}`)
  }
}

/**
 * Reads the rows of a data file: v2-shaped resources with their uids, by collection. A missing member gets its zero value, a missing time
 * the start of the sandbox (`now`, RFC 3339). For a wrong file it throws a sentence that names the position.
 */
export const readRows = (content: unknown, now: string): Rows => {
  const given = parse(content)
  const rows = Object.fromEntries(names.map((name) => [name, rowsOf(name, given[name] ?? [], now)])) as Readonly<
    Record<Name, readonly Row[]>
  >
  checkParents(rows)
  return rows as Rows
}
