import type { Identity } from '../serve/request.ts'
import { member } from '../tables/compile.ts'
import type { Fields, FieldType } from '../tables/fields.ts'
import { isObject, type JsonObject } from '../tables/json.ts'
import { type Operation, type OperationKind, type V1Request, withV1Values } from '../tables/operation.ts'
import { spellings } from '../tables/query.ts'
import { anonymousPath, isConcealed, isTyped, type Redactor, redactedWith, withoutSecrets } from './compare/redact.ts'
import { isDifference, many } from './evidence/evidence.ts'
import { type AskedUse, askedOf } from './evidence/kinds.ts'
import { shapeOf } from './evidence/standing.ts'
import type { Caller, Comparison, Total } from './records/record.ts'

export interface OperationUse {
  readonly operation: string
  readonly calls: number
  /** Milliseconds since 1970, like `lastSeen`. */
  readonly firstSeen: number
  readonly lastSeen: number
  /** Every mode in which it was served. */
  readonly modes: readonly string[]
  /** Every protocol in which it was called: `grpc`, `grpc-web`, `connect`, `rest`. Absent for REST alone. */
  readonly protocols?: readonly string[]
  readonly mismatches: number
  /** The kinds of requests among those that were looked at, the most frequent first. Absent if none was. */
  readonly requests?: readonly SampledKind[]
  /** Requests of further kinds, among those that were looked at. */
  readonly otherRequests?: number
  /** Where answers of v1 and v2 differed, the most frequent place first. Absent if they did not. */
  readonly differences?: readonly SeenDifference[]
}

/** A client, and what keeps it from moving to v2. */
export interface Client extends Caller {
  /** The name that a person gave it (`clients.names`). */
  readonly name?: string
  /** The products that it calls itself, such as `terraform-provider-x/1.2`. Absent if none is known. */
  readonly agents?: readonly string[]
  readonly calls: number
  readonly lastSeen: number
  readonly mismatches: number
  readonly operations: readonly OperationUse[]
  /** True if `blockers` is empty: the client could call v2 itself today. */
  readonly couldMove: boolean
  /** Uses for which v2 has no endpoint, with the reason. */
  readonly blockers: readonly string[]
  /** What the client would have to do itself, or should check first. */
  readonly cautions: readonly string[]
}

/** Returns the client without the parameters of its requests, which only its guide needs. */
export function withoutRequests(client: Client): Client {
  return { ...client, operations: client.operations.map(({ requests, otherRequests, ...use }) => use) }
}

/** What one client did at one operation. */
export interface Tally {
  calls: number
  firstSeen: number
  lastSeen: number
  mismatches: number
  readonly modes: Set<string>
  readonly protocols: Set<string>
  /** Requests that were to be looked at. */
  samples: number
  readonly kept: KeptUse
}

/** A client while it is counted. */
export interface KnownClient {
  subject: string | undefined
  /** At most `MOST_AGENTS`. */
  readonly agents: Set<string>
  readonly operations: Map<string, Tally>
}

/** Maximum products of one client. A client that invents more of them is not told apart any better. */
export const MOST_AGENTS = 4

/** Words of letters with a number in each, and then the version: nothing random reads like that, no key, no digest and no id. */
const PRODUCT =
  /^([A-Za-z]{1,16}(?:\d{1,3}[A-Za-z]{0,8})?(?:[-._+][A-Za-z]{1,16}(?:\d{1,3}[A-Za-z]{0,8})?){0,5})(?:\/(?:v?(\d{1,5}(?:\.\d{1,5}){0,2})(?![\w.]))?[^\s;(,]*)?(?=[\s;(,]|$)/

/** Maximum characters, digits, and capitals behind a small letter of the name of a program. */
const MOST_OF_NAME = { characters: 60, digits: 4, humps: 5 }

/**
 * Returns the first product of a `User-Agent` (RFC 9110 §10.1.5) with the numbers of its version: `terraform-provider-x/1.2`. Undefined for
 * what does not read like the name of a program, because anybody may put anything there.
 */
export function productOf(userAgent: string): string | undefined {
  const [, name, version] = PRODUCT.exec(userAgent.slice(0, 200)) ?? []
  if (name === undefined || !isProgramName(name)) return undefined
  return version === undefined ? name : `${name}/${version}`
}

function isProgramName(name: string): boolean {
  const times = (pattern: RegExp) => name.match(pattern)?.length ?? 0
  const { characters, digits, humps } = MOST_OF_NAME
  return name.length <= characters && times(/\d/g) <= digits && times(/[a-z][A-Z]/g) <= humps && withoutSecrets(name) === name
}

/** Adds a product to those of a client, if there is room. */
export function addAgent(agents: Set<string>, agent: string): void {
  if (agents.size < MOST_AGENTS) agents.add(agent)
}

/** Names by the hashes or the subjects of clients. */
export type ClientNames = Readonly<Record<string, string>>

export type NamesNow = () => ClientNames | undefined

/** Gives clients the names that a person chose for their hashes or subjects. */
export function withNames(clients: readonly Client[], names: ClientNames | undefined): readonly Client[] {
  if (!names) return clients
  const known = new Map(Object.entries(names))
  return clients.map((client) => {
    const name = known.get(client.caller) ?? (client.subject === undefined ? undefined : known.get(client.subject))
    return name === undefined ? client : { ...client, name }
  })
}

/** A client by all that it is called. */
interface Named extends Pick<Client, 'caller'> {
  readonly name?: string | undefined
  readonly subject?: string | undefined
}

/** Returns what a person knows the client by: its name, its subject, or its hash. */
export function shownClient({ name, subject, caller }: Named): string {
  return name ?? subject ?? caller
}

/** The protocol of a use that names none. */
export const REST = 'rest'

type UseOf = ReturnType<typeof createUseOf>

/** How the kind of an operation affects a client that wants to call v2 itself. */
const OBSTACLES: Readonly<Record<OperationKind, 'blocker' | 'caution' | undefined>> = {
  direct: undefined,
  composed: undefined,
  emulated: 'caution',
  'v1-only': 'blocker',
}

/** Says what keeps a client from moving. Undefined for one without a call. */
export function clientOf(caller: string, { subject, agents, operations }: KnownClient, useOf: UseOf): Client | undefined {
  const called = [...operations].filter(([, { calls }]) => calls > 0)
  if (called.length === 0) return undefined
  const uses = called.map(([operation, tally]) => useIn(operation, tally))
  const because = (what: 'blocker' | 'caution') =>
    uses.flatMap(({ operation }) => {
      const row = useOf(operation)
      return row && OBSTACLES[row.kind] === what ? [`${operation}: ${row.because}`] : []
    })
  const blockers = because('blocker')
  const differing = uses
    .filter(({ mismatches }) => mismatches > 0)
    .map(({ operation, mismatches }) => `${operation}: ${many(mismatches, 'mismatch', 'mismatches')}`)
  return {
    caller,
    ...(subject !== undefined && { subject }),
    ...(agents.size > 0 && { agents: [...agents].sort().slice(0, MOST_AGENTS) }),
    calls: uses.reduce((sum, { calls }) => sum + calls, 0),
    lastSeen: Math.max(...uses.map(({ lastSeen }) => lastSeen)),
    mismatches: uses.reduce((sum, { mismatches }) => sum + mismatches, 0),
    operations: uses.sort((a, b) => b.calls - a.calls),
    couldMove: blockers.length === 0,
    blockers,
    cautions: [...because('caution'), ...differing],
  }
}

function useIn(operation: string, { calls, firstSeen, lastSeen, mismatches, modes, protocols, kept }: Tally): OperationUse {
  const requests = kept.kinds.toSorted((a, b) => b.samples - a.samples)
  const differences = kept.places.toSorted((a, b) => b.count - a.count)
  return {
    operation,
    calls,
    firstSeen,
    lastSeen,
    modes: [...modes].sort(),
    ...([...protocols].some((protocol) => protocol !== REST) && { protocols: [...protocols].sort() }),
    mismatches,
    ...(requests.length > 0 && { requests }),
    ...(kept.otherSamples > 0 && { otherRequests: kept.otherSamples }),
    ...(differences.length > 0 && { differences }),
  }
}

/** Cells that a spreadsheet would read as a formula (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r]/

/** RFC 4180, with a header line. A cell that looks like a formula is prefixed with an apostrophe, so that a spreadsheet does not run it. */
export function toCsv(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [columns, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('')
}

function cell(value: string | number): string {
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value)
  return /[",\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const COLUMNS = [
  'caller',
  'subject',
  'operation',
  'calls',
  'last_seen',
  'modes',
  'mismatches',
  'could_move',
  'blockers',
  'cautions',
  'protocols',
  'agents',
  'name',
]

/** One line for each client and operation. */
export function clientsCsv(clients: readonly Client[]): string {
  const rows = clients.flatMap(({ caller, subject = '', operations, couldMove, blockers, cautions, agents = [], name = '' }) =>
    operations.map(({ operation, calls, lastSeen, modes, protocols = [REST], mismatches }) => {
      const use = [operation, calls, time(lastSeen), modes.join(' '), mismatches]
      const why = [couldMove ? 'yes' : 'no', blockers.join('; '), cautions.join('; ')]
      return [caller, subject, ...use, ...why, protocols.join(' '), agents.join(' '), name]
    }),
  )
  return toCsv(COLUMNS, rows)
}

/** The clients with their times in RFC 3339, ready for `JSON.stringify`. */
export function clientsJson(clients: readonly Client[]): readonly object[] {
  return clients.map((client) => ({
    ...client,
    lastSeen: time(client.lastSeen),
    operations: client.operations.map((use) => ({ ...use, firstSeen: time(use.firstSeen), lastSeen: time(use.lastSeen) })),
  }))
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/** The client that a person means, or those that it may be: none, or several. */
type FoundClient = { readonly client: Client } | { readonly fitting: readonly Client[] }

/** Finds a client by its name, its subject, or its hash or the beginning of it. */
export function findClient(clients: readonly Client[], id: string): FoundClient {
  const exact = clients.filter(({ caller, subject, name }) => caller === id || subject === id || name === id)
  const fitting = exact.length > 0 ? exact : clients.filter(({ caller }) => id !== '' && caller.startsWith(id.toLowerCase()))
  const [client] = fitting
  return client && fitting.length === 1 ? { client } : { fitting }
}

/**
 * Returns the command that prints the guide of one client, ready to paste: `crosswalk clients 3f2a1b4c5d6e7f80 --guide`. It names the client
 * by its hash, because a subject may need quotes in a shell.
 */
export function guideCommand({ caller }: Pick<Caller, 'caller'>): string {
  return `crosswalk clients ${caller} --guide`
}

/** A difference in answers to one client. `code` says that it is declared. */
export type SeenDifference = Omit<Total, 'noise'>

type Growing<T, Key extends keyof T> = Omit<T, Key> & { -readonly [Name in Key]: T[Name] }

/** What is kept of one client at one operation, besides counts. There is one for each, so it is plain data. */
export interface KeptUse {
  readonly kinds: Growing<SampledKind, 'samples'>[]
  /** Requests of further kinds, among those that were looked at. */
  otherSamples: number
  readonly places: Growing<SeenDifference, 'count'>[]
}

export function emptyUse(): KeptUse {
  return { kinds: [], otherSamples: 0, places: [] }
}

/** Maximum kinds and places of one client at one operation, and of all together. Few clients make many kinds of requests. */
const MOST = { kinds: 8, places: 12, altogether: 20_000 }

export type KeptUses = ReturnType<typeof createKeptUses>

/** Keeps kinds of requests and places of differences within one bound for all uses. */
export function createKeptUses(altogether: number = MOST.altogether) {
  let room = altogether
  const takesRoom = () => {
    if (room === 0) return false
    room -= 1
    return true
  }
  return {
    addKind(use: KeptUse, kind: RequestKind, samples: number): void {
      const known = use.kinds.find(({ shape }) => shape === kind.shape)
      if (known) known.samples += samples
      else if (use.kinds.length < MOST.kinds && takesRoom()) use.kinds.push({ ...kind, samples })
      else use.otherSamples += samples
    },
    addDifferences({ places }: KeptUse, { totals }: Pick<Comparison, 'totals'>): void {
      for (const { kind, where, code, count, noise } of totals) {
        const known = places.find((place) => place.kind === kind && place.where === where && place.code === code)
        if (noise) continue
        if (known) known.count += count
        else if (places.length < MOST.places && takesRoom()) places.push({ kind, where, count, ...(code !== undefined && { code }) })
      }
    },
  }
}

/** The unit of traffic: an operation, a value of one that only v1 knows, or a path that v1 answers and no table has. */
export type Use = Pick<Operation, 'id' | 'kind' | 'because' | 'instead' | 'readBack'>

const UNKNOWN = 'unknown'

/** True for the name of a request to a path that no table has (`createUnknownUses`). */
export const isUnknownUse = (id: string) => id === UNKNOWN || id.startsWith(`${UNKNOWN} `)

/** Returns the name of a use by what it calls: `GET /registry/v1/diff`. */
export const unknownUse = (called: string) => `${UNKNOWN} ${called}`

/** Finds a use by its id. Undefined for an id of other tables. Operations may be added to the list later. */
export function createUseOf(operations: readonly Operation[]): (id: string) => Use | undefined {
  const known = new Map<string, Use>()
  let count = 0
  const find = (id: string) => {
    for (const use of operations.length > count ? withV1Values(operations.slice(count)) : []) known.set(use.id, use)
    count = operations.length
    return known.get(id)
  }
  return (id) => find(id) ?? (isUnknownUse(id) ? { id, kind: 'v1-only', because: 'v1 answers it, and no table knows it' } : undefined)
}

/** Maximum names of unknown paths that are told apart, and the maximum length of a name. */
const MOST_USES = 100
const LONGEST = 200

/** Names a request that no table has by its method and its path without ids. Beyond `MOST_USES` names, all others share one. */
export function createUnknownUses(): (method: string, path: string) => string {
  const names = new Set<string>()
  return (method, path) => {
    const name = unknownUse(`${method} ${anonymousPath(path).slice(0, LONGEST)}`)
    if (names.size < MOST_USES) names.add(name)
    return names.has(name) ? name : UNKNOWN
  }
}

/** A caller, whose subject may be unknown. */
type CountedCaller = Pick<Identity, 'caller'> & Partial<Identity>

/** One or several uses of one operation. */
export interface CountedUse {
  readonly operation: string
  readonly mode: string
  /** `grpc`, `grpc-web` or `connect`; absent for REST. */
  readonly protocol?: string | undefined
  /** The products that a record names. */
  readonly agents?: readonly string[] | undefined
  /** Calls that a record counts. Absent for a request that was just served. */
  readonly calls?: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Maximum clients that are told apart. */
const CLIENTS = 10_000

/** A look costs as much as a small part of a request. So the first requests are looked at, and then one in `EVERY`. */
const FIRST = 10
const EVERY = 100

export type Inventory = ReturnType<typeof createInventory>

/** Counts which client calls what. `names` gives the names that persons chose for clients, as they are now. */
export function createInventory(operations: readonly Operation[], names: NamesNow = () => undefined, limit: number = CLIENTS) {
  const useOf = createUseOf(operations)
  const keptUses = createKeptUses()
  const clients = new Map<string, KnownClient>()
  const traffic = new Map<string, number>()
  const strangers = new Map<string, number>()
  let uncounted = 0
  const tallyOf = (caller: string, operation: string, subject?: string) => {
    let client = clients.get(caller)
    if (!client && clients.size < limit) {
      client = unknownClient()
      clients.set(caller, client)
    }
    if (client && subject !== undefined) client.subject = subject
    return client && (client.operations.get(operation) ?? tallyIn(client, operation))
  }
  /** Keeps the product that the client of a request that is worth a look calls itself. */
  const agent = (caller: string, product: string) => {
    const client = clients.get(caller)
    if (client) addAgent(client.agents, product)
  }
  return {
    agent,
    /** Returns true for a served request whose parameters are worth a look: the first ones of a client at an operation, then a few. */
    use({ caller, subject }: CountedCaller, { operation, mode, protocol = REST, agents = [], calls, at }: CountedUse): boolean {
      const times = calls ?? 1
      traffic.set(operation, (traffic.get(operation) ?? 0) + times)
      const tally = tallyOf(caller, operation, subject)
      if (!tally) {
        uncounted += times
        return false
      }
      tally.calls += times
      tally.firstSeen = Math.min(tally.firstSeen, at)
      tally.lastSeen = Math.max(tally.lastSeen, at)
      tally.modes.add(mode)
      tally.protocols.add(protocol)
      for (const product of agents) agent(caller, product)
      if (calls !== undefined || (tally.samples >= FIRST && tally.calls % EVERY !== 0)) return false
      tally.samples += 1
      return true
    },
    /** Keeps the kind of such a request. `samples` are requests that a record counts. */
    look(caller: string, operation: string, kind: RequestKind, samples?: number): void {
      const tally = tallyOf(caller, operation)
      if (samples !== undefined && tally) tally.samples += samples
      if (tally) keptUses.addKind(tally.kept, kind, samples ?? 1)
    },
    /** Counts a request whose credential no service has accepted. Such a stranger is no client, and its request is no traffic. */
    stranger: (operation: string, calls: number = 1) => void strangers.set(operation, (strangers.get(operation) ?? 0) + calls),
    /** Counts a mismatch, transient or not, against its client, and keeps where answers differed. Records may come before the calls. */
    compared(comparison: Pick<Comparison, 'caller' | 'operation' | 'outcome' | 'totals'>): void {
      const isMismatch = isDifference(comparison.outcome)
      if (!isMismatch && comparison.outcome !== 'expected') return
      const tally = tallyOf(comparison.caller, comparison.operation)
      if (isMismatch && tally) tally.mismatches += 1
      if (tally) keptUses.addDifferences(tally.kept, comparison)
    },
    /** Sorted by calls, most first. */
    clients: (): readonly Client[] => clientsOf(clients, useOf, names()),
    /** What clients ask, by operation id. It costs less than `clients`. */
    asked: () => askedOf(Array.from(clients.values(), askedByOne)),
    /** v1 requests of all clients by operation id. */
    traffic: (): ReadonlyMap<string, number> => traffic,
    /** Requests of strangers by operation id. */
    strangers: (): ReadonlyMap<string, number> => strangers,
    /** Calls of clients beyond the first `limit`. `traffic` includes them. */
    uncounted: () => uncounted,
  }
}

/** Returns the clients with a call, sorted by calls, under the names that persons gave them. */
function clientsOf(known: ReadonlyMap<string, KnownClient>, useOf: UseOf, names: ClientNames | undefined): readonly Client[] {
  const called = [...known].flatMap(([caller, client]) => clientOf(caller, client, useOf) ?? [])
  return withNames(
    called.sort((a, b) => b.calls - a.calls),
    names,
  )
}

function askedByOne({ operations }: KnownClient): { readonly operations: readonly AskedUse[] } {
  const called = [...operations].filter(([, { calls }]) => calls > 0)
  return {
    operations: called.map(([operation, { calls, kept }]) => ({
      operation,
      calls,
      requests: kept.kinds,
      otherRequests: kept.otherSamples,
    })),
  }
}

export function unknownClient(): KnownClient {
  return { subject: undefined, agents: new Set(), operations: new Map() }
}

/** Returns what a client did at one operation, from now on counted in place. */
export function tallyIn({ operations }: KnownClient, operation: string): Tally {
  const known = operations.get(operation)
  if (known) return known
  const times = { firstSeen: Number.POSITIVE_INFINITY, lastSeen: 0 }
  const sets = { modes: new Set<string>(), protocols: new Set<string>() }
  const tally: Tally = { calls: 0, ...times, mismatches: 0, ...sets, samples: 0, kept: emptyUse() }
  operations.set(operation, tally)
  return tally
}

/** Adds the clients of proxies that know nothing of each other. The most calls come first. */
export function joinedClients(lists: readonly (readonly Client[])[], operations: readonly Operation[]): readonly Client[] {
  const [first] = lists
  if (first && lists.length === 1) return first
  const useOf = createUseOf(operations)
  const kept = createKeptUses()
  const known = new Map<string, KnownClient>()
  const names = new Map<string, string>()
  for (const { caller, subject, name, agents = [], operations: uses } of lists.flat()) {
    const client = known.get(caller) ?? unknownClient()
    known.set(caller, client)
    client.subject ??= subject
    if (name !== undefined) names.set(caller, name)
    for (const agent of agents) addAgent(client.agents, agent)
    for (const use of uses) addUse(client, use, kept)
  }
  return clientsOf(known, useOf, Object.fromEntries(names))
}

function addUse(client: KnownClient, use: OperationUse, kept: KeptUses): void {
  const tally = tallyIn(client, use.operation)
  tally.calls += use.calls
  tally.mismatches += use.mismatches
  tally.firstSeen = Math.min(tally.firstSeen, use.firstSeen)
  tally.lastSeen = Math.max(tally.lastSeen, use.lastSeen)
  for (const mode of use.modes) tally.modes.add(mode)
  for (const protocol of use.protocols ?? [REST]) tally.protocols.add(protocol)
  for (const { samples, ...kind } of use.requests ?? []) kept.addKind(tally.kept, kind, samples)
  tally.kept.otherSamples += use.otherRequests ?? 0
  kept.addDifferences(tally.kept, { totals: use.differences ?? [] })
}

/** One kind of request that a client makes, with an example of its values. All names are those of the tables. */
export interface RequestKind {
  /** Two requests of one shape are of one kind. */
  readonly shape: string
  /** The variables of the path. A value that could be a secret is left out, here and in `query`. */
  readonly path: readonly Given[]
  readonly query: readonly Given[]
  /** Members of the body, as dotted names. Absent if the proxy read no body. */
  readonly members?: readonly string[]
  /** Parameters that no table knows. v1 ignores them. */
  readonly unknown?: number
}

/** A kind of request, and how often it was met among the requests that were looked at. */
export interface SampledKind extends RequestKind {
  readonly samples: number
}

/** A parameter, and its value if it may be kept. */
export type Given = readonly [name: string, value?: string]

/** Describes a request so that it can be kept. */
export type KindOf = (operation: Operation, request: V1Request) => RequestKind

/** Maximum values of one parameter, parameters, members, and characters of a value. */
const MOST_KINDS = { values: 3, parameters: 20, members: 60, text: 300 }

/** Creates a function that describes requests under the rules of redaction. */
export function createKindOf(redactor: Redactor): KindOf {
  const redactedOf = redactedWith(redactor)
  return (operation, request) => {
    const redacted = redactedOf(operation)
    const given = (name: string, value: string): Given => {
      const kept = isTyped(operation, name, value) ? value : redacted.value(value, name)
      return typeof kept === 'string' && kept.length <= MOST_KINDS.text && !isConcealed(kept) ? [name, kept] : [name]
    }
    const { query, unknown } = namedQuery(operation, request)
    const members = membersOf(operation, request.body)
    return {
      shape: shapeOf(operation, request),
      path: Object.entries(request.params).map(([name, value]) => given(name, value)),
      query: query.slice(0, MOST_KINDS.parameters).map(([name, value]) => given(name, value)),
      ...(members && { members: members.slice(0, MOST_KINDS.members) }),
      ...(unknown > 0 && { unknown }),
    }
  }
}

/** Returns the query under the names of the tables, in their order. Other names may be secrets, so they are counted. */
function namedQuery({ params, ownParams }: Operation, { query }: V1Request) {
  const names = [...Object.keys(params), ...ownParams]
  const spelled = new Set(names.flatMap(spellings))
  const pairs = names.flatMap((name) => {
    const values = spellings(name).flatMap((spelling) => query.get(spelling) ?? [])
    return values.slice(0, MOST_KINDS.values).map((value) => [name, value] as const)
  })
  return { query: pairs, unknown: [...query.keys()].filter((name) => !spelled.has(name)).length }
}

/** Returns the table names of the members of a body. A list in place of an object stands for the only list of the message. */
function membersOf({ request }: Operation, body: unknown): readonly string[] | undefined {
  if (body === undefined || body === null) return undefined
  if (!request) return []
  if (isObject(body)) return named(request.fields, body, '')
  const [only] = Object.entries(request.fields)
  return Array.isArray(body) && only ? below(only[1].type, body, only[0]) : []
}

function named(fields: Fields, body: JsonObject, prefix: string): readonly string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const value = member(body, name, field)
    return value === undefined ? [] : below(field.type, value, prefix + name)
  })
}

function below(type: FieldType, value: unknown, name: string): readonly string[] {
  const [inner, values] = type.kind === 'list' && Array.isArray(value) ? [type.of, value] : [type, [value]]
  if (inner.kind !== 'object') return [name]
  const names = values.slice(0, MOST_KINDS.values).flatMap((item) => (isObject(item) ? named(inner.fields, item, `${name}.`) : []))
  return names.length === 0 ? [name] : [...new Set(names)]
}
