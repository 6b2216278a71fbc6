import { isDeepStrictEqual } from 'node:util'
import { isSystemError, misuse, systemReason } from '../../errors.ts'
import { type Client, joinedClients } from '../../migrate/clients.ts'
import type { FleetView, RolloutOutlook } from '../../migrate/evidence/cutover.ts'
import type { Replica } from '../../migrate/evidence/replicas.ts'
import type { CutoverTerms } from '../../migrate/evidence/terms.ts'
import type { EvidenceReport } from '../../migrate/migration.ts'
import { Agent } from '../../serve/upstream/undici.ts'
import { isObject, oneLine } from '../../tables/json.ts'
import { operationsOf } from '../../tables/tables.ts'
import { adminUrl } from '../config/config.ts'
import { isBase, quotedValue } from '../config/kinds.ts'
import { type Flag, type Flags, type Io, textOf, textsOf } from './command.ts'
import { configFlags, configOf } from './flags.ts'
import { withProgress } from './terminal.ts'

const HOST = 'http://127.0.0.1'

/** The flags that name the running proxy to ask and the token to ask with. */
export const adminFlags: Readonly<Record<string, Flag>> = {
  admin: { help: `Address of the admin port. Default: ${HOST}:8081, or that of admin.host and admin.port`, value: 'URL' },
  ...configFlags(['admin.token', 'admin.readToken']),
}

type Problem = { readonly problem: string }

/** Sends a GET to the admin port of the running proxy. Rejects with a sentence that says why there is no answer. */
export async function askAdmin<T>(path: string, flags: Flags, io: Io): Promise<T> {
  return (await tagged<T>({ method: 'GET', path }, flags, io)).answer
}

/** Sends a POST, with a token that may change something. A refusal is the sentence of the admin port. */
export async function orderAdmin<T>(path: string, flags: Flags, io: Io, body?: object): Promise<T> {
  return (await tagged<T>({ method: 'POST', path, body }, flags, io)).answer
}

/** An answer with its entity tag. */
interface Tagged<T> {
  readonly answer: T
  readonly etag: string | undefined
}

/** What is sent to an admin port. */
interface Sent {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly body?: object | undefined
  readonly ifMatch?: string | undefined
}

/** Sends a request, and returns its answer with the tag that a PUT names. Rejects with a sentence that says why there is no answer. */
export async function tagged<T>(sent: Sent, flags: Flags, io: Io): Promise<Tagged<T>> {
  const { own, send } = adminPort(flags, io)
  const base = textOf(flags, 'admin') ?? own
  const known = await withProgress(io.screen, `asking ${oneLine(base)}`, () => send<T>(sent, base))
  if ('problem' in known) throw new Error(known.problem)
  return known
}

type AdminPort = ReturnType<typeof adminPort>

/** Returns the address of the admin port on this machine, and how to ask one with the token of the settings. Throws a misuse if they are wrong. */
function adminPort(flags: Flags, io: Io) {
  const config = configOf(flags, io)
  const wrong = [textOf(flags, 'admin') ?? [], textsOf(flags, 'admin')].flat().find((one) => !isBase(one))
  if (wrong !== undefined)
    throw misuse(
      `--admin is ${quotedValue(wrong)}, but it must be an address such as ${HOST}:8081, without credentials, query and fragment.`,
    )
  // The admin port says itself that a token only reads.
  const changing = config['admin.token'] ?? config['admin.tokens'][0]?.token ?? config['admin.readToken']
  const reading = config['admin.readToken'] ?? changing
  const send = async <T>(sent: Sent, base: string): Promise<Tagged<T> | Problem> => {
    const { method } = sent
    const token = method === 'GET' ? reading : changing
    const { status, failure, missing, etag, body } = await exchanged(sent, base, token)
    // What is missing in an answer of a fleet.
    if (missing && method !== 'POST') io.err(missing)
    if (status !== undefined && status < 300 && body !== undefined) return { answer: body as T, etag }
    // What is said about a token names none of the settings of this command.
    const message = isObject(body) ? body.message : undefined
    const isOfToken = typeof message === 'string' && /\bthis token\b/.test(message)
    const said = (method !== 'GET' && status !== 401) || status === 503 || isOfToken ? message : undefined
    if (typeof said !== 'string')
      return { problem: status === undefined ? whyUnanswered(base, failure) : problemOf(base, sent, status, token) }
    // Messages of the admin port are v1-shaped: they have no full stop.
    return { problem: /[.?!]$/.test(said) ? said : `${said}.` }
  }
  const ask = async <T>(path: string, base: string): Promise<T | Problem> => {
    const known = await send<T>({ method: 'GET', path }, base)
    return 'problem' in known ? known : known.answer
  }
  return { own: adminUrl(config), send, ask }
}

/**
 * Asks directly: `fetch` would ask the proxy that NODE_USE_ENV_PROXY lets it read from the environment, even for this machine. Without an answer,
 * `failure` is the reason.
 */
async function exchanged({ method, path, body: given, ifMatch }: Sent, base: string, token: string | undefined) {
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
    const body: unknown = await answer.body.json().catch(() => undefined)
    return { status: answer.statusCode, missing: missing?.toString(), etag: etag?.toString(), body }
  } catch (failure) {
    return { failure }
  } finally {
    await agent.destroy()
  }
}

function problemOf(base: string, { method, path }: Sent, status: number, token: string | undefined): string {
  if (status === 401) {
    const [what, how] = token === undefined ? ['asks for a token', 'give'] : ['does not know the token', 'put another into']
    const toRead = method === 'GET' ? 'admin.readToken (CROSSWALK_ADMIN_READ_TOKEN) or ' : ''
    return `${base} ${what}; ${how} ${toRead}admin.token (CROSSWALK_ADMIN_TOKEN).`
  }
  if (status === 403) return `${base} does not go by that name; ask it by an address, or list the name in its admin.names.`
  return `${base} answers ${path} with HTTP ${status}: is it the admin port of Crosswalk?`
}

function whyUnanswered(base: string, failure: unknown): string {
  if (isSystemError(failure) && failure.code === 'ECONNREFUSED')
    return `No proxy answers on ${base}; start one with crosswalk demo or crosswalk serve, or give its admin address with --admin.`
  return `${base} cannot be reached: ${systemReason(failure)}.`
}

/**
 * Returns the clients that call the proxies of `--admin`, or the own one. Replicas that share a store are asked once: each tells what all
 * have seen. Rejects with a sentence if one cannot be asked.
 */
export async function askClients(flags: Flags, io: Io): Promise<readonly Client[]> {
  const port = adminPort(flags, io)
  const given = [...new Set(textsOf(flags, 'admin'))]
  const lists = await withProgress(io.screen, 'asking for clients', async () => {
    const lists: (readonly Client[])[] = []
    for (const admin of given.length > 1 ? await onePortPerFleet(port, given) : [given[0] ?? port.own]) {
      const known = await port.ask<readonly Client[]>('/clients', admin)
      if ('problem' in known) throw new Error(known.problem)
      lists.push(known)
    }
    return lists
  })
  return joinedClients(lists, operationsOf(await io.tables()))
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
  readonly page?: string | undefined
  /** What its fleet says besides its counts, if it shares a store. */
  readonly fleet?: FleetView | undefined
  /** What persons decided about the verdict. */
  readonly terms?: CutoverTerms | undefined
  /** Comparisons are in progress. A fleet says itself which of them are missing. */
  readonly isComparing?: boolean
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
  const { operations, traffic, strangers, uncounted, circuits, queue, fleet, page, terms } = evidence
  const isWhole =
    [operations, clients, rollouts].every(Array.isArray) &&
    rollouts.every(({ reach }) => Array.isArray(reach)) &&
    [traffic, strangers, circuits, queue].every(isObject)
  if (!isWhole) return { admin, problem: `${admin} answers, but not as the admin port of this version of Crosswalk.` }
  const open = Object.entries(circuits).flatMap(([id, { state, reason }]) => (state === 'open' ? [[id, reason] as const] : []))
  return {
    ...{ admin, page, fleet, terms },
    isComparing: fleet === undefined && queue.waiting + queue.running > 0,
    replica: { evidence: operations, traffic, strangers, clients, uncounted, openCircuits: Object.fromEntries(open), rollouts },
  }
}
