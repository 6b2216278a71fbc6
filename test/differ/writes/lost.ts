import { isRecord } from '../mutate/json-places.ts'
import type { Forward, RelayedAnswer, RelayedCall, Spoil } from '../stage/relay.ts'

type Row = Readonly<Record<string, unknown>>

const SOON = () => new Date(Date.now() + 2000).toISOString()

/** v2 answers a write as if it had done it, and does nothing; of a batch, it does the first `kept`. */
export function losing(kept: number): Spoil {
  return async (call, forward) => {
    if (call.method === 'GET') return forward()
    if (call.method === 'DELETE') return json({})
    const body: unknown = call.body ? JSON.parse(call.body.toString()) : {}
    const lose = losers.find(([fits]) => fits(call))?.[1] ?? unmade
    return lose({ call, forward, body: isRecord(body) ? body : {}, kept })
  }
}

interface Write {
  readonly call: RelayedCall
  readonly forward: Forward
  readonly body: Row
  readonly kept: number
}

type Lose = (write: Write) => Promise<RelayedAnswer>

const has = (part: string) => (call: RelayedCall) => call.url.includes(part)

const losers: readonly (readonly [fits: (call: RelayedCall) => boolean, lose: Lose])[] = [
  [has(':updateIdentityMetadata'), async ({ body }) => json({ uid: '00', ...(body['identityMetadata'] as Row) })],
  [has(':requestGroupAccess'), async () => json({})],
  [has(':checkAccountAssociation'), async () => json({ status: 'READY' })],
  [has(':batchCreate'), halfMade],
  [has(':batchDelete'), halfDeleted],
  [has('ScimToken'), scim],
  [has(':setScimEnabled'), scim],
  [has('/terms/'), async ({ call, body }) => json({ group: call.url.split('/').slice(4).join('/'), documentIds: body['documentIds'] })],
  [({ method }) => method === 'PATCH', unchanged],
  [has('/registry/v2/tags/'), unchangedTag],
]

/** Makes the resource for its answer, and deletes it. */
async function unmade({ call, forward }: Write): Promise<RelayedAnswer> {
  const answer = await forward()
  if (answer.status === 200) await remove(call, forward, parsed(answer))
  return answer
}

async function remove({ url }: RelayedCall, forward: Forward, { uid }: Row): Promise<void> {
  const collection = url.split('?')[0]?.split(/[/:]/).slice(0, 4).join('/')
  await forward({ method: 'DELETE', url: `${collection}/${uid}`, body: undefined })
}

async function halfMade({ call, forward, kept }: Write): Promise<RelayedAnswer> {
  const answer = await forward()
  const rows = (parsed(answer)['roleBindings'] ?? []) as readonly Row[]
  for (const row of rows.slice(kept)) await remove(call, forward, row)
  return answer
}

async function halfDeleted({ call, forward, body, kept }: Write): Promise<RelayedAnswer> {
  const names = body['names'] as readonly string[]
  const collection = call.url.split(':')[0]
  const rows: Row[] = []
  for (const name of names) rows.push(parsed(await forward({ method: 'GET', url: `${collection}/${name}`, body: undefined })))
  if (kept > 0) await forward({ body: Buffer.from(JSON.stringify({ ...body, names: names.slice(0, kept) })) })
  return json({ externalGroupRoleMappings: rows })
}

async function scim({ call, forward, body }: Write): Promise<RelayedAnswer> {
  const [path = ''] = call.url.split(':')
  const { uid, scim: before } = parsed(await forward({ method: 'GET', url: path, body: undefined }))
  const shown = { identityProviderUid: uid, etag: 'another' }
  if (call.url.includes(':revoke')) return json({ ...shown, enabled: false, revokeTime: SOON() })
  if (call.url.includes(':setScim')) return json({ ...shown, enabled: body['enabled'] })
  const { endpointUrl } = before as Row
  return json({ ...shown, token: 'cgscim_0', endpointUrl, expireTime: SOON() })
}

async function unchanged({ call, forward, body }: Write): Promise<RelayedAnswer> {
  const [path = ''] = call.url.split('?')
  return json(merged(parsed(await forward({ method: 'GET', url: path, body: undefined })), body))
}

async function unchangedTag(write: Write): Promise<RelayedAnswer> {
  const { call, forward, body } = write
  const repo = call.url.slice('/registry/v2/tags/'.length)
  const url = `/registry/v2/tags?uidp.children_of=${repo}&name=${body['name']}`
  const [tag] = (parsed(await forward({ method: 'GET', url, body: undefined }))['tags'] ?? []) as readonly Row[]
  return tag ? json(merged(tag, body)) : unmade(write)
}

/** Returns what v2 would answer after a change. */
function merged(before: Row, body: Row): Row {
  const { identityUid, roleUid, ...others } = body
  const parts = {
    ...(identityUid !== undefined && { identity: { uid: identityUid } }),
    ...(roleUid !== undefined && { role: { uid: roleUid } }),
  }
  return { ...before, ...others, ...parts, ...('updateTime' in before && { updateTime: SOON() }) }
}

function parsed({ body }: RelayedAnswer): Row {
  return JSON.parse(body.toString()) as Row
}

function json(value: unknown): RelayedAnswer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(value)) }
}
