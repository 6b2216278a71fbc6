import { isDeepStrictEqual } from 'node:util'
import { misuse } from '../../errors.ts'
import { type Client, joinedClients } from '../../migrate/clients.ts'
import type { FleetView, RolloutOutlook } from '../../migrate/evidence/cutover.ts'
import type { Replica } from '../../migrate/evidence/replicas.ts'
import type { CutoverTerms } from '../../migrate/evidence/terms.ts'
import type { EvidenceReport } from '../../migrate/migration.ts'
import { Agent } from '../../serve/upstream/undici.ts'
import { isObject, oneLine } from '../../tables/json.ts'
import { operationsOf } from '../../tables/tables.ts'
import { isBase, quotedValue } from '../config/kinds.ts'
import { type Flag, type Flags, type Io, textOf, textsOf } from './command.ts'
import { configFlags, configFrom } from './flags.ts'
import { withProgress } from './terminal.ts'

const HOST = 'http://127.0.0.1'

/** The flags that name the running proxy to ask and the token to ask with. */
export const adminFlags: Readonly<Record<string, Flag>> = {
  admin: { help: `Address of the admin port. Default: ${HOST}:8081, or admin.port on this machine`, value: 'URL' },
  ...configFlags(['admin.token', 'admin.readToken']),
}

type Problem = { readonly problem: string }

/** Sends a GET to the admin port of the running proxy. Returns the response, or a sentence that says why there is none. */
export async function askAdmin<T>(path: string, flags: Flags, io: Io): Promise<T | Problem> {
  const { ask, own } = adminPort(flags, io)
  const base = textOf(flags, 'admin') ?? own
  return withProgress(io.screen, `asking ${oneLine(base)}`, () => ask(path, base))
}

/** Sends a POST, with a token that may change something. A refusal is the sentence of the admin port. */
export async function orderAdmin<T>(path: string, flags: Flags, io: Io, body?: object): Promise<T | Problem> {
  const { order, own } = adminPort(flags, io)
  const base = textOf(flags, 'admin') ?? own
  return withProgress(io.screen, `asking ${oneLine(base)}`, () => order(path, base, body))
}

/** An answer with its entity tag. */
export interface Tagged<T> {
  readonly answer: T
  readonly etag: string | undefined
}

/** Reads what may be changed, with the tag that a change names. */
export async function readTagged<T>(path: string, flags: Flags, io: Io): Promise<Tagged<T> | Problem> {
  return tagged({ method: 'GET', path }, flags, io)
}

/** Sends a PUT, with a token that may change something. A refusal is the sentence of the admin port. */
export async function writeTagged<T>(
  path: string,
  given: Pick<Sent, 'body' | 'ifMatch'>,
  flags: Flags,
  io: Io,
): Promise<Tagged<T> | Problem> {
  return tagged({ ...given, method: 'PUT', path }, flags, io)
}

async function tagged<T>(sent: Omit<Sent, 'base' | 'token'>, flags: Flags, io: Io): Promise<Tagged<T> | Problem> {
  const { own, reading, changing } = adminPort(flags, io)
  const base = textOf(flags, 'admin') ?? own
  const token = sent.method === 'GET' ? reading : changing
  return withProgress(io.screen, `asking ${oneLine(base)}`, () => send<T>({ ...sent, base, token }, io.err))
}

/** An admin port to ask. */
export interface AdminPort {
  /** Address of the admin port on this machine. */
  readonly own: string
  /** The token for reading, and the one that may change something. */
  readonly reading: string | undefined
  readonly changing: string | undefined
  ask<T>(path: string, base: string): Promise<T | Problem>
  order<T>(path: string, base: string, body?: object): Promise<T | Problem>
}

/** Returns how to ask an admin port with the token of the settings, or throws a misuse if they are wrong. */
export function adminPort(flags: Flags, io: Io): AdminPort {
  const loaded = configFrom(flags, io)
  if ('problem' in loaded) throw misuse(loaded.problem)
  const { config } = loaded
  const wrong = [textOf(flags, 'admin') ?? [], textsOf(flags, 'admin')].flat().find((one) => !isBase(one))
  if (wrong !== undefined)
    throw misuse(
      `--admin is ${quotedValue(wrong)}, but it must be an address such as ${HOST}:8081, without credentials, query and fragment.`,
    )
  const changing = config['admin.token'] ?? config['admin.tokens'][0]?.token
  const reading = config['admin.readToken'] ?? changing
  return {
    own: `${HOST}:${config['admin.port']}`,
    ...{ reading, changing },
    ask: (path, base) => plain(send({ method: 'GET', base, path, token: reading }, io.err)),
    order: (path, base, body) => plain(send({ method: 'POST', base, path, token: changing, ...(body && { body }) }, () => {})),
  }
}

async function plain<T>(sent: Promise<Tagged<T> | Problem>): Promise<T | Problem> {
  const known = await sent
  return 'problem' in known ? known : known.answer
}

/** What is sent to an admin port. */
interface Sent {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly base: string
  readonly path: string
  readonly token: string | undefined
  readonly body?: object
  readonly ifMatch?: string | undefined
}

/** `tell` takes what is missing in an answer of a fleet. */
async function send<T>(sent: Sent, tell: (missing: string) => void): Promise<Tagged<T> | Problem> {
  const { method, base, path, token } = sent
  const { status, missing, etag, body } = await exchanged(sent)
  if (missing) tell(missing)
  if (status !== undefined && status < 300 && body !== undefined) return { answer: body as T, etag }
  // What is said about a token names none of the settings of this command.
  const message = isObject(body) ? body.message : undefined
  const isOfToken = typeof message === 'string' && /\bthis token\b/.test(message)
  const said = (method !== 'GET' && status !== 401) || status === 503 || isOfToken ? message : undefined
  return { problem: typeof said === 'string' ? ended(said) : problemOf(base, path, status, token) }
}

/** Messages of the admin port are v1-shaped: they have no full stop. */
function ended(message: string): string {
  return /[.?!]$/.test(message) ? message : `${message}.`
}

interface Exchanged {
  /** Undefined if no answer came. */
  readonly status?: number
  readonly missing?: string | undefined
  readonly etag?: string | undefined
  readonly body?: unknown
}

/** Asks directly: `fetch` would ask the proxy that NODE_USE_ENV_PROXY lets it read from the environment, even for this machine. */
async function exchanged({ method, base, path, token, body: given, ifMatch }: Sent): Promise<Exchanged> {
  const { origin, pathname, search } = new URL(`${base}${path}`)
  const agent = new Agent()
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(given && { 'content-type': 'application/json' }),
    ...(ifMatch !== undefined && { 'if-match': ifMatch }),
  }
  try {
    const answer = await agent.request({ origin, path: pathname + search, method, headers, body: given ? JSON.stringify(given) : null })
    const { 'x-crosswalk-incomplete': missing, etag } = answer.headers
    const body = await answer.body.json().catch(() => undefined)
    const told = { missing: missing === undefined ? undefined : String(missing), etag: etag === undefined ? undefined : String(etag) }
    return { status: answer.statusCode, ...told, body }
  } catch {
    return {}
  } finally {
    await agent.destroy()
  }
}

function problemOf(base: string, path: string, status: number | undefined, token: string | undefined): string {
  if (status === 401) {
    const [what, how] = token === undefined ? ['asks for a token', 'give'] : ['does not know the token', 'put another into']
    return `${base} ${what}; ${how} admin.readToken (CROSSWALK_ADMIN_READ_TOKEN) or admin.token (CROSSWALK_ADMIN_TOKEN).`
  }
  if (status === 403) return `${base} does not go by that name; ask it by an address, or list the name in its admin.names.`
  if (status !== undefined) return `${base} answers ${path} with HTTP ${status}: is it the admin port of Crosswalk?`
  return `No proxy answers on ${base}; start one with crosswalk demo or crosswalk serve, or give its admin address with --admin.`
}

/**
 * Returns the clients that call the proxies of `--admin`, or the own one. Replicas that share a store are asked once: each tells what all
 * have seen. Returns a sentence if one cannot be asked.
 */
export async function askClients(flags: Flags, io: Io): Promise<readonly Client[] | { readonly problem: string }> {
  const port = adminPort(flags, io)
  const given = [...new Set(textsOf(flags, 'admin'))]
  const lists = await withProgress(io.screen, 'asking for clients', () => listsOf(port, given))
  return 'problem' in lists ? lists : joinedClients(lists, operationsOf(await io.tables()))
}

async function listsOf(port: AdminPort, given: readonly string[]): Promise<readonly (readonly Client[])[] | { readonly problem: string }> {
  const lists: (readonly Client[])[] = []
  for (const admin of given.length > 1 ? await onePortPerFleet(port, given) : [given[0] ?? port.own]) {
    const known = await port.ask<readonly Client[]>('/clients', admin)
    if ('problem' in known) return known
    lists.push(known)
  }
  return lists
}

/** What `GET /replicas` says of a replica, as far as it is needed. */
interface ReplicaId {
  readonly id: string
  /** True of the replica that answers. */
  readonly self: boolean
}

async function onePortPerFleet({ ask }: AdminPort, admins: readonly string[]): Promise<readonly string[]> {
  const asked = await Promise.all(admins.map(async (admin) => ({ admin, replicas: await ask<readonly ReplicaId[]>('/replicas', admin) })))
  const known = new Set<string>()
  return asked.flatMap(({ admin, replicas }) => {
    // A proxy without a store has no such answer.
    if ('problem' in replicas) return [admin]
    const isAsked = replicas.some(({ id, self }) => self && known.has(id))
    for (const { id } of replicas) known.add(id)
    return isAsked ? [] : [admin]
  })
}

/** An admin port that was asked: what its proxy knows, or one sentence that says why it is not known. */
export interface AskedReplica {
  readonly admin: string
  readonly replica?: Replica
  readonly problem?: string
  /** The address of its report page, if people know one. */
  readonly page?: string
  /** What its fleet says besides its counts, if it shares a store. */
  readonly fleet?: FleetView
  /** What persons decided about the verdict. */
  readonly terms?: CutoverTerms
}

/** Asks every admin port of `--admin`, or the own one. Rejects with a misuse if the settings are wrong. */
export async function askReplicas(flags: Flags, io: Io): Promise<readonly AskedReplica[]> {
  const port = adminPort(flags, io)
  const given = textsOf(flags, 'admin')
  const admins = [...new Set(given.length === 0 ? [port.own] : given)]
  return withProgress(io.screen, 'asking for evidence', () => Promise.all(admins.map((admin) => askOne(port, admin))))
}

/** Returns one of the ports of each fleet: all of them tell what all replicas have counted. */
export function onePerFleet(asked: readonly AskedReplica[]): readonly AskedReplica[] {
  return asked.filter(({ fleet }, at) => {
    const before = asked.slice(0, at)
    return !before.some((other) => fleet && other.fleet?.replicas.some(({ id }) => id === fleet.self))
  })
}

/** Returns what keeps the fleets that were asked from being judged, in sentences. */
export function missingIn(asked: readonly AskedReplica[]): readonly string[] {
  return [...new Set([...asked.flatMap(({ fleet }) => fleet?.problems ?? []), ...otherTerms(asked)])]
}

/** What persons decided must be the same everywhere: nobody knows which of two decisions is meant. */
function otherTerms(asked: readonly AskedReplica[]): readonly string[] {
  const known = asked.flatMap(({ admin, terms }) => (terms ? [{ admin, terms }] : []))
  const other = known.find(({ terms }) => !isDeepStrictEqual(terms, known[0]?.terms))
  return other ? [`${known[0]?.admin} and ${other.admin} have different settings cutover.*: give them the same.`] : []
}

async function askOne({ ask }: AdminPort, admin: string): Promise<AskedReplica> {
  const evidence = await ask<EvidenceReport & { readonly page?: string }>('/evidence', admin)
  const clients = 'problem' in evidence ? evidence : await ask<readonly Client[]>('/clients', admin)
  if ('problem' in evidence) return { admin, problem: evidence.problem }
  if ('problem' in clients) return { admin, problem: clients.problem }
  const rollouts = await ask<readonly RolloutOutlook[]>('/rollouts', admin)
  if ('problem' in rollouts) return { admin, problem: rollouts.problem }
  const { operations, traffic, strangers, uncounted, circuits, fleet, page, terms } = evidence
  const isWhole =
    [operations, clients, rollouts].every(Array.isArray) &&
    rollouts.every(({ reach }) => Array.isArray(reach)) &&
    [traffic, strangers, circuits].every(isObject)
  if (!isWhole) return { admin, problem: `${admin} answers, but not as the admin port of this version of Crosswalk.` }
  const open = Object.entries(circuits).flatMap(([id, { state, reason }]) => (state === 'open' ? [[id, reason] as const] : []))
  return {
    admin,
    ...(page !== undefined && { page }),
    ...(fleet && { fleet }),
    ...(terms && { terms }),
    replica: { evidence: operations, traffic, strangers, clients, uncounted, openCircuits: Object.fromEntries(open), rollouts },
  }
}
