import { Agent, request as send } from 'undici'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { type Read, readsOf } from '../reads/reads.ts'
import type { Uids } from '../reads/uids.ts'
import type { Role } from '../stage/differ.ts'

/** Clients of each demo user. Each has a token of its own. */
const CLIENTS: Readonly<Partial<Record<Role, number>>> = { owner: 320, admin: 80, viewer: 80, outsider: 80 }

/** Returns the demo user of a client's token. */
export function roleOf(authorization = ''): Role | undefined {
  const [, role] = /^Bearer mixture-([a-z]+)-\d+$/.exec(authorization) ?? []
  return role !== undefined && role in CLIENTS ? (role as Role) : undefined
}

/** A resource that clients make, change and delete again. All its writes are sent through Crosswalk. */
interface Written {
  readonly resource: string
  readonly path: string
  /** Where it is made: a uid. */
  readonly parent: (uids: Uids, organization: string) => string
  /** The nth resource, as its version says. */
  readonly body: (nth: number, version: number) => object
  /** Oldest first. */
  readonly made: { readonly id: string; readonly nth: number }[]
}

const digest = (nth: number) => `sha256:${nth.toString(16).padStart(64, '0')}`

const writtenOf = (): readonly Written[] => [
  {
    ...{ resource: 'iam.groups', path: '/iam/v1/groups', parent: ({ folder }) => folder, made: [] },
    body: (nth, version) => ({ name: `mixture-${nth}`, description: `version ${version}` }),
  },
  {
    ...{ resource: 'iam.roles', path: '/iam/v1/roles', parent: ({ folder }) => folder, made: [] },
    body: (nth, version) => ({ name: `mixture-${nth}`, description: `version ${version}`, capabilities: ['groups.list', 'repo.list'] }),
  },
  {
    ...{ resource: 'iam.identities', path: '/iam/v1/identities', parent: ({ folder }) => folder, made: [] },
    body: (nth, version) => {
      const claim_match = { issuer: 'https://a.example', subject: `s-${nth}` }
      return { name: `mixture-${nth}`, description: `version ${version}`, claim_match }
    },
  },
  {
    ...{ resource: 'registry.repos', path: '/registry/v1/repos', parent: ({ folder }) => folder, made: [] },
    body: (nth, version) => ({ name: `mixture-${nth}`, description: `version ${version}` }),
  },
  {
    ...{ resource: 'registry.tags', path: '/registry/v1/tags', parent: ({ small }) => small, made: [] },
    body: (nth, version) => ({ name: `mixture-${nth}`, digest: digest(version), bundles: ['base'] }),
  },
]

/** Resources of one kind that exist at the same time. */
const MOST = 12

/** Resources that are left alone before one of them is changed, so that a list shows them for a while. */
const LEAST = 4

export interface MixtureClients {
  /** Operations that clients call, the busiest first. The last ones are writes. */
  readonly operations: readonly string[]
  /** Sends the next request of the mixture. */
  act(): Promise<void>
  /** Requests by operation. */
  readonly sent: ReadonlyMap<string, number>
  /** Answers by status. */
  readonly statuses: ReadonlyMap<number, number>
  close(): Promise<void>
}

const VERBS = ['create', 'update', 'delete'] as const

/** Clients that send reads and writes by Zipf's law. In bursts, one of them repeats a read. */
export function createClients(url: string, sandbox: Sandbox, uids: Uids, random: () => number): MixtureClients {
  const agent = new Agent({ connections: 64 })
  const reads = new Map<string, Read[]>()
  for (const one of readsOf(sandbox, uids)) reads.set(one.operation, [...(reads.get(one.operation) ?? []), one])
  const written = writtenOf()
  const operations = [...reads.keys(), ...VERBS.flatMap((verb) => written.map(({ resource }) => `${resource}.${verb}`))]
  const weights = operations.map((_, nth) => 1 / (nth + 1))
  const all = weights.reduce((sum, one) => sum + one, 0)
  const [sent, statuses] = [new Map<string, number>(), new Map<number, number>()]
  const clientOf = (role: Role = 'owner') => `Bearer mixture-${role}-${Math.floor((CLIENTS[role] ?? 1) * random())}`
  const ask = async (operation: string, method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, authorization: string, body?: object) => {
    sent.set(operation, (sent.get(operation) ?? 0) + 1)
    const answer = await send(url + path, {
      ...{ method, headers: { authorization }, dispatcher: agent },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await answer.body.text()
    statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1)
    return answer.statusCode < 300 ? text : undefined
  }
  let [made, burst] = [0, { left: 0, read: undefined as Read | undefined, authorization: '' }]
  const read = async (one: Read, authorization: string) => void (await ask(one.operation, 'GET', one.path, authorization))
  const write = async ({ resource, path, parent, body, made: known }: Written, wanted: (typeof VERBS)[number]) => {
    const verb = known.length < LEAST ? 'create' : wanted === 'create' && known.length >= MOST ? 'delete' : wanted
    const operation = `${resource}.${verb}`
    made += 1
    const version = made
    if (verb === 'create') {
      const text = await ask(operation, 'POST', `${path}/${parent(uids, sandbox.organization)}`, clientOf(), body(version, version))
      const { id } = JSON.parse(text ?? '{}') as { id?: string }
      if (id !== undefined) known.push({ id, nth: version })
      return
    }
    const one = known.shift()
    if (!one) return
    if (verb === 'delete') return void (await ask(operation, 'DELETE', `${path}/${one.id}`, clientOf()))
    await ask(operation, 'PUT', `${path}/${one.id}`, clientOf(), body(one.nth, version))
    known.push(one)
  }
  return {
    operations,
    sent,
    statuses,
    async act() {
      if (burst.left > 0 && burst.read) {
        burst.left -= 1
        return read(burst.read, burst.authorization)
      }
      let left = random() * all
      const found = weights.findIndex((weight) => {
        left -= weight
        return left < 0
      })
      const operation = operations[Math.max(0, found)] ?? ''
      const kinds = reads.get(operation)
      if (!kinds) {
        const [verb = 'create'] = VERBS.filter((one) => operation.endsWith(one))
        const one = written.find(({ resource }) => operation === `${resource}.${verb}`)
        return one && write(one, verb)
      }
      const one = kinds[Math.floor(kinds.length * random())] as Read
      const authorization = clientOf(one.role)
      if (random() < 0.01) burst = { left: 10, read: one, authorization }
      return read(one, authorization)
    },
    close: () => agent.destroy(),
  }
}
