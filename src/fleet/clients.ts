import { z } from 'zod'
import {
  addAgent,
  type Client,
  clientOf,
  createKeptUses,
  createUseOf,
  emptyUse,
  type KeptUse,
  type KeptUses,
  type KnownClient,
  MOST_AGENTS,
  REST,
  type RequestKind,
  type SeenDifference,
  type Tally,
  tallyIn,
  unknownClient,
} from '../migrate/clients.ts'
import { isDifference } from '../migrate/evidence/evidence.ts'
import type { Migration } from '../migrate/migration.ts'
import type { Caller, Comparison, Entry, TrafficEntry } from '../migrate/records/record.ts'
import type { Operation } from '../tables/operation.ts'
import type { Epochs } from './epochs.ts'
import { evidenceNames, UNCOUNTED } from './evidence.ts'
import { type FleetClocks, type FleetReading, type PartState, reading, readText, sharedTimeOf } from './exchange.ts'
import type { Fleet } from './fleet.ts'
import type { Store, StoreChange, StoreFound, Sums } from './store/store.ts'

/**
 * The names in the store of the clients of an epoch. The clients are spread over several names, so that the store answers others between
 * two reads.
 */
export interface ClientNames {
  /** Calls, times, mismatches, and the places of differences. */
  readonly sums: string
  /** Subjects, products, and kinds of requests. */
  readonly texts: string
}

/** Names over which the clients are spread. */
const SPREAD = 64

/** Returns the names of the clients that share a number below `SPREAD`. `nth` is the number of the epoch. */
export function clientNames(nth: number, number: number): ClientNames {
  return { sums: `clients:${nth}:${number}`, texts: `client-texts:${nth}:${number}` }
}

/** The sums that count the clients of an epoch that are told apart, in the field `callers`. */
function callersName(nth: number): string {
  return `callers:${nth}`
}

/** Returns the number of a client: the same in every process. */
export function numberOf(caller: string): number {
  let hash = 0
  for (const character of caller) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_537
  return hash % SPREAD
}

/** Writes parts as one field. Only the last part may hold line breaks. */
function fieldOfParts(...parts: readonly string[]): string {
  return parts.join('\n')
}

/** Reads `count` parts of a field. */
function partsOfField(field: string, count: number): readonly string[] {
  const parts = field.split('\n')
  return [...parts.slice(0, count - 1), parts.slice(count - 1).join('\n')]
}

/**
 * Returns what one use changes in the store. `subject` is written if it is given, and so are the products of `agents`.
 *
 * One call of the client `c` adds 1 to the field `calls c iam.roles.list v2 rest` of the sums of its number, where the parts of a field are lines.
 */
function clientChanges(use: PendingUse, subject: string | undefined, agents: readonly string[] = []): readonly StoreChange[] {
  const { nth, caller, operation, firstSeen, lastSeen, kinds } = use
  const names = clientNames(nth, numberOf(caller))
  const field = (what: string, ...rest: readonly string[]) => fieldOfParts(what, caller, operation, ...rest)
  const counted = (what: string, counts: ReadonlyMap<string, number>) =>
    [...counts].map(([key, count]) => [field(what, key), count] as const)
  const sums: Sums = Object.fromEntries([
    ...counted('calls', use.calls),
    ...counted('samples', use.samples),
    ...counted('place', use.places),
    ...(use.mismatches > 0 ? [[field('mismatches'), use.mismatches] as const] : []),
    ...(use.otherSamples > 0 ? [[field('others'), use.otherSamples] as const] : []),
  ])
  const text = (what: 'write' | 'mark', name: string, value: string): StoreChange => {
    return { kind: what, name: names.texts, field: name, text: value }
  }
  return [
    ...(Object.keys(sums).length > 0 ? [{ kind: 'add', name: names.sums, sums } as const] : []),
    ...(use.calls.size > 0
      ? ([
          { kind: 'least', name: names.sums, sums: { [field('first')]: firstSeen } },
          { kind: 'most', name: names.sums, sums: { [field('last')]: lastSeen } },
        ] as const)
      : []),
    ...(subject === undefined ? [] : [text('write', fieldOfParts('subject', caller), subject)]),
    ...agents.map((agent) => text('mark', fieldOfParts('agent', caller, agent), '1')),
    ...kinds.map(({ shape, ...kind }) => text('mark', field('kind', shape), JSON.stringify(kind))),
  ]
}

const given = z.array(z.union([z.tuple([z.string()]), z.tuple([z.string(), z.string()])]))

/** The kind of a request as the store keeps it, without its shape. */
const kindSchema = z.object({
  path: given,
  query: given,
  members: z.array(z.string()).optional(),
  unknown: z.number().optional(),
})

/** Subjects and products of clients, and kinds of their requests, by field. */
type ClientTexts = Readonly<Record<string, string>>

/** Returns clients from what the store holds of them, as if one inventory had counted them. */
function clientsFromSums(sums: Sums, texts: ClientTexts, kept: KeptUses): ReadonlyMap<string, KnownClient> {
  const clients = new Map<string, KnownClient>()
  // Fields come in any order, and which kinds are kept must not depend on it.
  const fields = Object.entries(sums).sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
  for (const [field, count] of fields) {
    const [what = '', caller = '', operation = '', rest = ''] = partsOfField(field, 4)
    const tally = tallyOf(clients, caller, operation)
    if (what === 'samples') kept.addKind(tally.kept, kindIn(texts, caller, operation, rest), count)
    else if (what === 'place') kept.addDifferences(tally.kept, { totals: [placeIn(rest, count)] })
    else countIn(tally, what, count, rest)
  }
  for (const [field, text] of Object.entries(texts)) {
    const [what, caller = '', agent = ''] = partsOfField(field, 3)
    const client = clients.get(caller)
    if (client && what === 'subject') client.subject = text
    if (client && what === 'agent') addAgent(client.agents, agent)
  }
  return clients
}

function countIn(tally: Tally, what: string, count: number, rest: string): void {
  if (what === 'first') tally.firstSeen = count
  if (what === 'last') tally.lastSeen = count
  if (what === 'mismatches') tally.mismatches = count
  if (what === 'others') tally.kept.otherSamples += count
  if (what !== 'calls') return
  const [mode = '', protocol] = rest.split('\n')
  tally.calls += count
  tally.modes.add(mode)
  tally.protocols.add(protocol || REST)
}

function kindIn(texts: ClientTexts, caller: string, operation: string, shape: string): RequestKind {
  const text = texts[fieldOfParts('kind', caller, operation, shape)]
  const { path, query, members, unknown } = (text === undefined ? undefined : readText(kindSchema, text)) ?? { path: [], query: [] }
  return { shape, path, query, ...(members && { members }), ...(unknown !== undefined && { unknown }) }
}

function placeIn(text: string, count: number): SeenDifference {
  const [kind = '', code = '', where = ''] = partsOfField(text, 3)
  return { kind: kind as SeenDifference['kind'], where, count, ...(code !== '' && { code }) }
}

function tallyOf(clients: Map<string, KnownClient>, caller: string, operation: string): Tally {
  const client = clients.get(caller) ?? unknownClient()
  clients.set(caller, client)
  return tallyIn(client, operation)
}

/** What one client did at one operation, and the store was not told yet. */
interface PendingUse {
  readonly nth: number
  readonly caller: string
  readonly operation: string
  subject: string | undefined
  readonly agents: Set<string>
  /** Calls by mode and protocol, which share a key of two lines. */
  readonly calls: Map<string, number>
  firstSeen: number
  lastSeen: number
  mismatches: number
  /** Requests that were looked at, by the shape of their kind. */
  readonly samples: Map<string, number>
  /** Kinds that the store was not told of. */
  readonly kinds: RequestKind[]
  /** Requests of further kinds. */
  otherSamples: number
  /** Findings by kind, declaration and place, which share a key of three lines. */
  readonly places: Map<string, number>
}

/** Adds entries up until the store is told. Memory is bounded by the clients that are told apart, and by what `KeptUses` keeps. */
function createPendingUses() {
  const pending = new Map<string, PendingUse>()
  let kept = new Map<string, KeptUse>()
  let keptUses = createKeptUses()
  const useOf = (nth: number, { caller, subject }: Caller, operation: string) => {
    const key = `${nth}\n${caller}\n${operation}`
    const use = pending.get(key) ?? newUse(nth, caller, operation)
    const known = kept.get(key) ?? emptyUse()
    pending.set(key, use)
    kept.set(key, known)
    use.subject = subject ?? use.subject
    return [use, known] as const
  }
  return {
    /** `time`: that of all replicas, in milliseconds since 1970. */
    traffic(nth: number, { mode, protocol = '', calls, requests = [], agents = [], ...entry }: TrafficEntry, time: number) {
      const [use, known] = useOf(nth, entry, entry.operation)
      for (const agent of agents) addAgent(use.agents, agent)
      use.firstSeen = Math.min(use.firstSeen, time)
      use.lastSeen = Math.max(use.lastSeen, time)
      add(use.calls, `${mode}\n${protocol}`, calls)
      for (const { samples, ...kind } of requests) {
        const before = known.kinds.length
        keptUses.addKind(known, kind, samples)
        if (known.kinds.length > before) use.kinds.push(kind)
        if (known.kinds.some(({ shape }) => shape === kind.shape)) add(use.samples, kind.shape, samples)
        else use.otherSamples += samples
      }
    },
    compared(nth: number, comparison: Comparison) {
      const isMismatch = isDifference(comparison.outcome)
      if (!isMismatch && comparison.outcome !== 'expected') return
      const [use, known] = useOf(nth, comparison, comparison.operation)
      if (isMismatch) use.mismatches += 1
      keptUses.addDifferences(known, comparison)
      for (const { kind, where, code, count, noise } of comparison.totals) {
        const isKept = known.places.some((place) => place.kind === kind && place.where === where && place.code === code)
        if (isKept && !noise) add(use.places, `${kind}\n${code ?? ''}\n${where}`, count)
      }
    },
    /** Hands over the oldest ones. */
    take(most: number): readonly PendingUse[] {
      const taken = [...pending].slice(0, most)
      for (const [key] of taken) pending.delete(key)
      return taken.map(([, use]) => use)
    },
    waiting: () => pending.size,
    /** Forgets which kinds were told: they are told again with their next request. */
    forget() {
      kept = new Map()
      keptUses = createKeptUses()
    },
  }
}

function newUse(nth: number, caller: string, operation: string): PendingUse {
  return {
    ...{ nth, caller, operation, subject: undefined, calls: new Map(), firstSeen: Number.POSITIVE_INFINITY, lastSeen: 0, mismatches: 0 },
    ...{ agents: new Set(), samples: new Map(), kinds: [], otherSamples: 0, places: new Map() },
  }
}

function add(counts: Map<string, number>, key: string, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count)
}

interface ClientsPartSources {
  /** The number of the epoch. */
  readonly nth: number
  /** Counts calls of clients beyond those that the fleet tells apart. */
  readonly uncounted: (nth: number, calls: number) => StoreChange
  /** Brings the calls that are not recorded yet. */
  readonly flush: () => void
  /** Asks for an exchange. */
  readonly soon: () => void
  /** The time of all replicas of an entry that this one dated, in milliseconds since 1970. */
  readonly timeOf: (at: string) => number
  /** Maximum clients that a fleet tells apart, about: replicas that find new ones at the same time may go beyond it. */
  readonly limit?: number
}

/** Maximum clients that are told apart. */
const CLIENTS = 10_000

/** Maximum uses of one batch: the store does nothing else meanwhile. */
const MOST_AT_ONCE = 300

/** Returns the products of a client that the store was not told of, a bounded number of them in all. */
function createUnreported(): (client: string, agents: ReadonlySet<string>) => readonly string[] {
  const told = new Map<string, ReadonlySet<string>>()
  return (client, agents) => {
    const before = told.get(client) ?? new Set()
    const found = [...agents].filter((agent) => !before.has(agent)).slice(0, MOST_AGENTS - before.size)
    if (found.length > 0) told.set(client, new Set([...before, ...found]))
    return found
  }
}

/** Tells the store which client calls what. */
export function createClientsPart({ nth: initial, uncounted, flush, soon, timeOf, limit = CLIENTS }: ClientsPartSources) {
  const pending = createPendingUses()
  /** Clients of an epoch that this replica has told of, with their subjects. */
  let told = new Map<string, string | undefined>()
  let unreported = createUnreported()
  let admitted = new Set<string>()
  let nth = initial
  let further = 0
  let isFull = false
  const callersReading = (): FleetReading =>
    reading('sums', callersName(nth), ({ callers = 0 }) => {
      isFull = callers >= limit
    })
  let callers = callersReading()

  const admits = (caller: string) => {
    if (admitted.has(caller)) return true
    if (isFull || admitted.size >= limit) return false
    admitted.add(caller)
    return true
  }
  const forget = () => {
    told = new Map()
    unreported = createUnreported()
    admitted = new Set()
    pending.forget()
  }
  const traffic = (entry: TrafficEntry) => {
    if (admits(entry.caller)) pending.traffic(nth, entry, timeOf(entry.at))
    // Beyond its own limit, the inventory of this replica has counted them.
    else if (admitted.size < limit) further += entry.calls
  }
  const changesOf = (use: PendingUse): readonly StoreChange[] => {
    const { caller, subject } = use
    const known = `${use.nth} ${caller}`
    const isNew = !told.has(known)
    const isRenamed = subject !== undefined && told.get(known) !== subject
    if (isNew || isRenamed) told.set(known, subject ?? told.get(known))
    const joins: StoreChange = { kind: 'join', name: callersName(use.nth), field: 'callers', member: caller, most: limit }
    return [...(isNew ? [joins] : []), ...clientChanges(use, isRenamed ? subject : undefined, unreported(known, use.agents))]
  }
  const restOf = (): readonly StoreChange[] => {
    if (further === 0) return []
    const calls = further
    further = 0
    return [uncounted(nth, calls)]
  }
  return {
    /** Takes an entry that is recorded now. */
    entry(entry: Entry) {
      if (entry.kind === 'traffic' && !entry.stranger) traffic(entry)
      else if (entry.kind === 'comparison' && admits(entry.caller)) pending.compared(nth, entry)
      else return
      soon()
    },
    /** What comes from now on belongs to another epoch. */
    begin(next: number) {
      flush()
      forget()
      nth = next
      isFull = false
      callers = callersReading()
    },
    changes(): readonly StoreChange[] {
      const changes = [...restOf(), ...pending.take(MOST_AT_ONCE).flatMap(changesOf)]
      if (pending.waiting() > 0) soon()
      return changes
    },
    readings: (): readonly FleetReading[] => [callers],
    state: (): PartState => ({ waiting: pending.waiting(), dropped: 0, lost: 0 }),
    asked: flush,
    lost: forget,
  }
}

/** The clients of a fleet, most calls first, and the calls of those beyond the ones that are told apart. */
interface FleetClients {
  readonly clients: readonly Client[]
  readonly uncounted: number
}

/** Numbers of clients (`numberOf`) that are read at the same time. */
const AT_ONCE = 4

/** Maximum kinds of requests, and places of differences, of the clients of one number. */
const KEPT = 1000

interface KnownNumber {
  readonly sums: StoreFound
  readonly texts: StoreFound
  readonly clients: readonly Client[]
}

/** Reads the clients of an epoch. Rejects as `Store.read` does. What did not change since the last reading is not read again. */
export function createClientReader(store: Pick<Store, 'read'>, operations: readonly Operation[]) {
  const useOf = createUseOf(operations)
  let known = new Map<number, KnownNumber>()
  let epoch = 0
  const clientsOf = (sums: StoreFound, texts: StoreFound) => {
    const found = clientsFromSums((sums?.value ?? {}) as Sums, (texts?.value ?? {}) as ClientTexts, createKeptUses(KEPT))
    return [...found].flatMap(([caller, one]) => clientOf(caller, one, useOf) ?? [])
  }
  const readNumber = async (nth: number, number: number): Promise<readonly Client[]> => {
    const names = clientNames(nth, number)
    const before = known.get(number)
    const read = (kind: 'sums' | 'texts') => {
      const stamp = before?.[kind]?.stamp
      return { kind, name: names[kind], ...(stamp !== undefined && { known: stamp }) }
    }
    const [sums, texts] = await store.read([read('sums'), read('texts')])
    if (before && !sums && !texts) return before.clients
    const now = { sums: sums ?? before?.sums, texts: texts ?? before?.texts }
    const clients = clientsOf(now.sums, now.texts)
    known.set(number, { ...now, clients })
    return clients
  }
  return async (nth: number): Promise<FleetClients> => {
    if (nth !== epoch) known = new Map()
    epoch = nth
    const found: Client[] = []
    for (let first = 0; first < SPREAD; first += AT_ONCE) {
      const numbers = Array.from({ length: AT_ONCE }, (_, more) => first + more)
      found.push(...(await Promise.all(numbers.map((number) => readNumber(nth, number)))).flat())
    }
    found.sort((a, b) => b.calls - a.calls || (a.caller < b.caller ? -1 : 1))
    return { clients: found.slice(0, CLIENTS), uncounted: found.slice(CLIENTS).reduce((sum, { calls }) => sum + calls, 0) }
  }
}

/**
 * Shares with the fleet which client calls what, and returns what reads the clients of the epoch. Call it before earlier records are read back.
 * `isNewStore` says that the store is as old as this process.
 */
export function shareClients(
  { modes, counting, follow }: Pick<Migration, 'modes' | 'counting' | 'follow'>,
  fleet: Pick<Fleet, 'add' | 'soon' | 'store' | 'time'>,
  epochs: Pick<Epochs, 'now' | 'onBegin'>,
  now: FleetClocks['now'],
  operations: readonly Operation[],
  isNewStore: boolean,
): () => Promise<FleetClients> {
  const part = createClientsPart({
    ...{ nth: epochs.now().nth, flush: modes.flush, soon: fleet.soon },
    timeOf: (at) => sharedTimeOf(at, { time: fleet.time, now }),
    uncounted: (nth, calls) => ({ kind: 'add', name: evidenceNames({ nth, hash: '' }).traffic, sums: { [UNCOUNTED]: calls } }),
  })
  // Nobody has told a new store of what is read back.
  if (isNewStore) follow(part.entry)
  else counting.followOwn(part.entry)
  epochs.onBegin(() => part.begin(epochs.now().nth))
  fleet.add(part)
  const read = createClientReader(fleet.store, operations)
  return () => read(epochs.now().nth)
}
