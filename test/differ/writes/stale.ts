import type { RelayedAnswer, Spoil } from '../stage/relay.ts'
import type { WriteBench } from './write-bench.ts'
import type { WriteRequest } from './write-cases.ts'

/** The v1 read of a resource, by the first segments of the path of its writes. */
const READS: Readonly<Record<string, (id: string) => string>> = {
  '/iam/v1/groups': (id) => `?id=${id}`,
  '/iam/v1/identities': (id) => `?id=${id}`,
  '/iam/v1/roles': (id) => `?id=${id}`,
  '/iam/v1/rolebindings': (id) => `?id=${id}`,
  '/iam/v1/identityProviders': (id) => `?id=${id}`,
  '/iam/v1/account_associations': (id) => `?group=${id}`,
  '/iam/v1/group_invites': (id) => `?id=${id}`,
  '/iam/v1/externalGroupRoleMappings': (id) => `/${id}`,
  '/iam/v1/terms': (id) => `/${id}`,
  '/registry/v1/repos': (id) => `?id=${id}`,
  '/registry/v1/tags': (id) => `?id=${id}`,
  '/events/v1/subscriptions': (id) => `?id=${id}`,
}

const NOT_FOUND: RelayedAnswer = {
  status: 404,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{"code":5,"message":"not found","details":[]}'),
}

/**
 * A v2 whose reads show what was there before a write that v1 served: the resource as it was, or none. Of a batch, it shows the first
 * `kept` as they are.
 */
export async function staleAfter({ oracle }: WriteBench, { path, body }: WriteRequest, kept: number): Promise<Spoil> {
  const before = new Map<string, RelayedAnswer>()
  const [, collection = '', rest = ''] = /^(\/\w+\/v1\/\w+)[/:]?(.*)$/.exec(path) ?? []
  const batch = (body as { ids?: readonly string[] } | undefined)?.ids
  const ids = batch ?? [rest.split(':')[0] ?? '']
  const remember: Spoil = async ({ url }, forward) => {
    const answer = await forward()
    before.set(url, answer)
    return answer
  }
  const reader = oracle.caller({ v2: remember })
  for (const id of ids) await reader.send('GET', `${collection}${READS[collection]?.(id)}`)
  const shown = new Set<string>()
  return async ({ method, url }, forward) => {
    if (method !== 'GET') return forward()
    const own = before.get(url) ?? NOT_FOUND
    const uid = url.split('?')[0]?.split('/').slice(4).join('/') ?? ''
    if (shown.size < kept) shown.add(uid)
    return shown.has(uid) ? forward() : own
  }
}
