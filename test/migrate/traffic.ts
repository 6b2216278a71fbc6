import { seeded } from '../stage/clocks.ts'
import type { Reply, Stage } from '../stage/stage.ts'

/** A write that was sent, and its answer. */
export interface Written {
  readonly method: string
  /** Occurs in the body of this write only; a delete has none. */
  readonly mark: string | undefined
  readonly path: string
  readonly status: number
}

export interface Traffic {
  /** Number of requests sent. */
  readonly requests: number
  readonly writes: readonly Written[]
  /** Answers that say that the service failed. */
  readonly failures: readonly string[]
}

interface Script {
  readonly stage: Stage
  readonly random: () => number
  readonly tokens: readonly string[]
  readonly writes: Written[]
  /** Uids that this client created: by collection, with their token. */
  readonly made: { readonly path: string; readonly id: string; readonly token: string }[]
}

const pick = <T>(random: () => number, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T

/** Runs mixed traffic of several clients at the same time: reads with many kinds of parameters, and writes. */
export async function runTraffic(
  stage: Stage,
  { requests, seed, clients = 4 }: { requests: number; seed: number; clients?: number },
): Promise<Traffic> {
  const failures: string[] = []
  const writes: Written[] = []
  let left = requests
  const client = async (nth: number) => {
    const random = seeded(seed * 1000 + nth)
    const { owner, editor, viewer, outsider, admin } = stage.sandbox.tokens
    const script: Script = { stage, random, tokens: [owner, editor, viewer, outsider, admin], writes, made: [] }
    const uids = await uidsOf(stage)
    while (left > 0) {
      left -= 1
      const [what, reply] = random() < 0.8 ? await read(script, uids) : await write(script, uids, `${seed}-${nth}-${left}`)
      if (reply.status >= 500) failures.push(`${what}: ${reply.status} ${JSON.stringify(reply.body)}`)
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, nth) => client(nth)))
  return { requests, writes, failures }
}

interface Uids {
  readonly groups: readonly string[]
  readonly repos: readonly string[]
  readonly organization: string
}

async function uidsOf(stage: Stage): Promise<Uids> {
  const ids = async (path: string) => {
    const answer = await fetch(`${stage.sandbox.url}${path}`, { headers: { authorization: `Bearer ${stage.sandbox.tokens.admin}` } })
    return ((await answer.json()) as { items: { id: string }[] }).items.map(({ id }) => id)
  }
  return {
    groups: await ids('/iam/v1/groups'),
    repos: (await ids('/registry/v1/repos')).slice(0, 30),
    organization: stage.sandbox.organization,
  }
}

const LISTS = [
  '/iam/v1/groups',
  '/iam/v1/identities',
  '/iam/v1/roles',
  '/iam/v1/rolebindings',
  '/iam/v1/identityProviders',
  '/iam/v1/account_associations',
  '/iam/v1/group_invites',
  '/registry/v1/repos',
  '/events/v1/subscriptions',
]

/** Ways to filter and limit a list. */
const WAYS: readonly ((random: () => number, uids: Uids) => string)[] = [
  () => '',
  (random) => `offset=${Math.floor(random() * 5)}&limit=${1 + Math.floor(random() * 9)}`,
  (random) => `page=${1 + Math.floor(random() * 3)}&page_size=${1 + Math.floor(random() * 9)}`,
  (random) => `page_number=${1 + Math.floor(random() * 3)}&per_page=${1 + Math.floor(random() * 9)}`,
  (random, { groups }) => `uidp.descendants_of=${pick(random, groups)}`,
  (random, { groups }) => `uidp.childrenOf=${pick(random, groups)}`,
  (random, { groups }) => `uidp.ancestors_of=${pick(random, groups)}`,
  (random) => `order_by=${pick(random, ['name desc', 'id', 'uid desc', 'name'])}`,
  (random, { groups }) => `id=${pick(random, groups)}`,
  () => 'limit=-1',
  () => 'offset=1&page=2',
  () => 'order_by=colour',
  () => 'colour=red',
]

function queryOf({ random }: Script, uids: Uids): string {
  const query = pick(random, WAYS)(random, uids)
  return query === '' ? '' : `?${query}`
}

async function read(script: Script, uids: Uids): Promise<[string, Reply]> {
  const { random, stage, tokens } = script
  const repo = pick(random, uids.repos)
  const path = pick(random, [
    () => pick(random, LISTS) + queryOf(script, uids),
    () => pick(random, LISTS) + queryOf(script, uids),
    () => pick(random, LISTS) + queryOf(script, uids),
    () => `/registry/v1/tags?uidp.children_of=${repo}&exclude_dates=${random() < 0.5}`,
    () => `/registry/v1/repos?id=${repo}`,
    () => `/registry/v1/repotagssummary/${repo}`,
    () => `/registry/v1/eoltags?uidp.descendants_of=${repo}`,
    () => `/iam/v1/terms/${pick(random, uids.groups)}`,
    () => '/ping/v1/ping',
  ])()
  return [`GET ${path}`, await stage.request('GET', path, { token: pick(random, tokens) })]
}

async function write(script: Script, uids: Uids, mark: string): Promise<[string, Reply]> {
  const { random, stage, made, writes } = script
  const old = made.length > 0 && random() < 0.6 ? pick(random, made) : undefined
  const token = old?.token ?? pick(random, [stage.sandbox.tokens.owner, stage.sandbox.tokens.editor])
  const collection = old?.path ?? pick(random, ['/iam/v1/groups', '/registry/v1/repos', '/iam/v1/roles'])
  const isDelete = old !== undefined && random() < 0.3
  const method = old === undefined ? 'POST' : isDelete ? 'DELETE' : 'PUT'
  const path = `${collection}/${old?.id ?? uids.organization}`
  const body = {
    name: `made-${(old?.id ?? mark).replaceAll('/', '-').slice(-20)}`,
    description: `mark ${mark}`,
    capabilities: ['repo.list'],
  }
  const reply = await stage.request(method, path, { token, ...(!isDelete && { body }) })
  writes.push({ method, mark: isDelete ? undefined : `mark ${mark}`, path, status: reply.status })
  if (method === 'POST' && reply.status === 200) made.push({ path: collection, id: reply.body.id, token })
  if (isDelete) made.splice(made.indexOf(old), 1)
  return [`${method} ${path}`, reply]
}
