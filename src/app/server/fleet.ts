import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { FleetAnswer, FleetAnswers } from '../../admin/fleet-routes.ts'
import type { FleetCounted, ReportReplica } from '../../admin/report/report.ts'
import { shareBudget, shareCircuits } from '../../fleet/circuits.ts'
import { type FleetClients, shareClients } from '../../fleet/clients.ts'
import { createNotesPart, createNotesTold, type NotesTold, shareComparisons } from '../../fleet/comparisons.ts'
import { type Epochs, epochHash, tablesHash } from '../../fleet/epochs.ts'
import { createStoreLog, type FleetReplica, newestOf, type UnreadReplica } from '../../fleet/exchange.ts'
import {
  type ComparedService,
  createFleet,
  createLeader,
  type Fleet,
  type FleetSettings,
  type Leader,
  otherServices,
  upstreamProblems,
  upstreamsOf,
} from '../../fleet/fleet.ts'
import { shareJudging, shareReadiness } from '../../fleet/judging.ts'
import { conflictNote, type KeptModes, type ShareModes, STORE_MS, shareModes, unreadText } from '../../fleet/modes.ts'
import { type FleetEvidence, shareEvidence } from '../../fleet/report.ts'
import { createRolloutsPart, type RolloutsPart } from '../../fleet/rollouts/rollouts.ts'
import type { Store } from '../../fleet/store/store.ts'
import { withNames } from '../../migrate/clients.ts'
import { describeOpening, readOpening } from '../../migrate/evidence/circuit.ts'
import type { Counted } from '../../migrate/evidence/cutover.ts'
import { type Migration, ROLLOUTS_LOOK_MS } from '../../migrate/migration.ts'
import type { Comparison } from '../../migrate/records/record.ts'
import type { Clocks } from '../../serve/bounds.ts'
import type { StoreStanding } from '../../serve/upstream/health.ts'
import type { Operation } from '../../tables/operation.ts'
import type { Config } from '../config/settings.ts'

/** Returns what a report is made of, from what the store holds of all replicas. `leader` is the id of the replica that decides. */
export function fleetCounted(
  { evidence, traffic, uncounted, declarations, fleet }: Counted,
  { clients, uncounted: beyond }: FleetClients,
  shared: Pick<Fleet, 'replicas' | 'unread'>,
  leader: string | undefined,
): FleetCounted {
  const { problems = [], busy = [], epoch = { nth: 0, tables: '' } } = fleet ?? {}
  const replicas = shared.replicas()
  const newest = newestOf(replicas)
  const rows = replicas.map((one) => replicaOf(one, newest, leader, otherServices(one, replicas)))
  return {
    ...{ evidence, traffic, clients, declarations, uncounted: uncounted + beyond },
    fleet: {
      ...{ problems, busy, epoch },
      replicas: rows.sort((a, b) => Number(b.isSelf) - Number(a.isSelf) || (a.id < b.id ? -1 : 1)),
      unread: shared.unread().map((one) => ({ id: one.id, ...silenceOf(one) })),
    },
  }
}

/** Leaves out how long ago a replica was heard of, if it lives: otherwise each answer would be another. */
function silenceOf({ isLive, seenMs }: UnreadReplica): Pick<ReportReplica, 'silentSeconds'> {
  return isLive ? {} : { silentSeconds: Math.round(seenMs / 1000) }
}

function replicaOf(one: FleetReplica, newest: number, leader: string | undefined, others: readonly ComparedService[]): ReportReplica {
  const { id, isSelf, since, version, unread, waiting, dropped, lost } = one
  const modes = { version, behind: newest - version, ...(unread !== undefined && { unread }) }
  return {
    id,
    isSelf,
    isLeader: id === leader,
    since,
    ...modes,
    ...silenceOf(one),
    ...(others.length > 0 && { otherServices: others }),
    waiting,
    dropped,
    lost,
  }
}

/** What a server gives to the fleet that it joins. */
export interface FleetSources {
  readonly config: Config
  readonly migration: Migration
  readonly operations: readonly Operation[]
  readonly log: Logger
  readonly clocks: Clocks
  /** The path of the configuration file, if there is one. */
  readonly file: string | undefined
}

/** Makes the modes of a server those of its fleet, and tells in the log what happens to them. `given` is what a supervisor knew. */
export function openSharedModes(
  fleet: Fleet,
  { config, migration, log, clocks, file }: FleetSources,
  given: KeptModes | undefined,
): ShareModes {
  const { modes, journal, note, onNote } = migration
  const first = { rules: config.modes, by: { source: 'start', ...(file !== undefined && { path: file }) } } as const
  return shareModes({
    ...{ fleet, modes, clocks, first, given },
    cache: config['store.cache'],
    leaseMs: config['store.leaseMs'],
    openCircuits: () =>
      Object.fromEntries(Array.from(journal.circuit.openings(), ([operation, opening]) => [operation, describeOpening(opening)])),
    reopen: (operation, described) => journal.circuit.reopen(operation, readOpening(described, clocks.now())),
    onTurn: (listener) => onNote(({ what }) => (what === 'circuit' || what === 'circuit-closed') && listener()),
    told: {
      unreadable: (unread, isKnown) => log.warn({ version: unread.version }, `${unreadText(unread)}: ${isKnown ? KNOWN_STAY : NONE_KNOWN}`),
      differed: (conflict) => note(conflictNote(conflict, config['records.subjects'])),
      proposed(end) {
        if (end === 'again') log.info(AGAIN)
        else if ('version' in end) log.info({ version: end.version }, `the store took the modes of the file, as version ${end.version}`)
        else log.warn(`the store has not taken the modes of the file: ${end.problem}`)
      },
      held: (isHeld) => log.warn(isHeld ? HELD : 'the store answers: canaries get their share of v2 again'),
      cached: (version) => log.warn({ version }, given ? GIVEN : CACHED),
      unknown: (why) => log.warn(why),
    },
    warn: (text) => log.warn(text),
  })
}

const AGAIN = 'the modes of the file are those that were proposed last: they are not proposed again'

const KNOWN_STAY = 'the known ones stay active'

const NONE_KNOWN = 'none are known here, so this replica is not ready'

const HELD = 'the store was silent for longer than store.leaseMs: no canary gets v2'

const CACHED = 'the store does not answer: the last known modes are active, those of store.cache'

const GIVEN = 'the store does not answer: the last known modes are active, those of the supervisor'

/** Shares what people ask for, and answers for all replicas. If the store does not answer, it tells what this replica knows. */
export function shareAnswers(
  { config, migration, operations, clocks, isNewStore }: FleetSources & { readonly isNewStore: boolean },
  fleet: Fleet,
  leader: Pick<Leader, 'id'>,
  evidence: FleetEvidence,
): FleetAnswers {
  const readShared = shareClients(migration, fleet, evidence.epochs, { clocks, operations, isNewStore })
  const readClients = async () => {
    const { clients, uncounted } = await readShared()
    return { clients: withNames(clients, config['clients.names']), uncounted }
  }
  const shared = shareComparisons(migration, fleet, clocks, config['records.memory'])
  const own = migration.report
  /** Reads after every replica has handed over what it knew, and falls back to what this one knows. */
  const settled = async <T>(read: () => Promise<T>, alone: () => T): Promise<FleetAnswer<T>> => {
    const { view } = await evidence.snapshot(() => [])
    try {
      return { answer: await read(), problems: view.problems }
    } catch (error) {
      const problems = view.problems.length > 0 ? view.problems : [(error as Error).message]
      return { answer: alone(), problems: [...problems, ALONE] }
    }
  }
  return {
    clients: () => settled(async () => (await readClients()).clients, own.clients),
    comparisons(query) {
      const known = () => [...own.comparisons(query), ...shared.others(query)].sort(byTime).slice(0, query.limit)
      return settled(async () => {
        await shared.read()
        return known()
      }, known)
    },
    async counted() {
      const known = await evidence.counted()
      const clients = await readClients().catch(() => ({ clients: own.clients(), uncounted: 0 }))
      await shared.read().catch(() => {})
      return fleetCounted(known, clients, fleet, leader.id())
    },
    onComparison: shared.onRead,
  }
}

const ALONE = 'This is what this replica knows.'

/** The newest first. */
function byTime(a: Comparison, b: Comparison): number {
  return Date.parse(b.at) - Date.parse(a.at)
}

/** Returns what `/readyz` tells of the store. */
export function storeStandingOf(
  fleet: Pick<Fleet, 'state'>,
  modes: Pick<ShareModes, 'known' | 'unknown' | 'unread'>,
  { lost }: Pick<Epochs, 'lost'>,
): () => StoreStanding {
  return () => {
    const { problem, foreignKey, silentMs, tookMs = 0 } = fleet.state()
    const unread = modes.unread()
    const known = modes.known()
    const means = MEANS[unread && known !== 'none' ? 'unread' : known]
    const answers = unread ? `${unreadText(unread)}; ${means}` : (lost() ?? (tookMs > STORE_MS ? slow(tookMs) : 'ok'))
    const what = foreignKey === undefined ? 'no answer' : 'nothing taken'
    const silent = `${what} for ${(silentMs / 1000).toFixed(0)} s (${problem}); ${means}`
    return { store: problem === undefined ? answers : silent, notReady: modes.unknown() }
  }
}

function slow(tookMs: number): string {
  return `slow: its last answer took ${Math.round(tookMs)} ms, and a change of the modes for all replicas waits for ${STORE_MS} ms`
}

const MEANS = {
  store: 'the modes of its last answer are active',
  cache: 'the last known modes of store.cache are active',
  unread: 'the last modes that this replica could read are active',
  none: 'no modes are known',
}

/** Calls a listener after each exchange with the store: whether it was answered, and the seconds that it took. */
export type OnExchange = (listener: (isAnswered: boolean, seconds: number) => void) => void

/** Creates a fleet that tells the log when the store goes and comes, and the metrics how long it takes. */
export function createToldFleet(
  settings: Omit<FleetSettings, 'ended'>,
  log: Logger,
): { readonly fleet: Fleet; readonly onExchange: OnExchange } {
  const listeners: Parameters<OnExchange>[0][] = []
  const tell = createStoreLog({ warn: log.warn.bind(log), info: log.info.bind(log) })
  const fleet = createFleet({
    ...settings,
    ended(before, after, seconds) {
      tell(before, after)
      for (const listener of listeners) listener(after.problem === undefined, seconds)
    },
  })
  return { fleet, onExchange: (listener) => void listeners.push(listener) }
}

/** Returns a function that warns when live replicas reach other services, once for each replica. Call it often. */
export function createUpstreamWarning(fleet: Pick<Fleet, 'replicas'>, log: Pick<Logger, 'warn'>): () => void {
  let told: readonly string[] = []
  return () => {
    const problems = upstreamProblems(fleet.replicas())
    for (const problem of problems) if (!told.includes(problem)) log.warn(problem)
    told = problems
  }
}

/** Makes a server a replica of a fleet. */
export interface JoinFleet {
  /** Tells this process from every other, and from those before it. */
  readonly replica: string
  readonly join: (sources: FleetSources) => JoinedFleet
}

interface JoinFleetOptions {
  readonly isNewStore?: boolean
  readonly name?: string
  readonly kept?: KeptModes | undefined
}

/** What a server has of its fleet. */
export interface JoinedFleet {
  readonly fleet: Fleet
  readonly leader: Leader
  readonly evidence: FleetEvidence
  readonly answers: FleetAnswers
  readonly modes: ShareModes
  readonly steer: RolloutsPart['steer']
  /** Passes on the notes of which this replica is to tell. */
  readonly onTell: NotesTold['onTell']
  readonly onExchange: OnExchange
  /** A PUT of modes needs `If-Match`: people may change them at several replicas at once. */
  readonly needsMatch: boolean
  /** What `/readyz` tells of the store. */
  readonly standing: () => StoreStanding
  /** Decides nothing from now on, and says goodbye to the other replicas. */
  close(): Promise<void>
}

/**
 * Returns what joins the fleet that shares a store: `createServer(config, mappings, { join: joinFleet(store) })`. A store that is new at each
 * start is told what is read back from records. `name` is what a person knows the process by. `kept` is what its supervisor knew of the
 * modes when it started.
 */
export function joinFleet(store: Store, { isNewStore = false, name = hostname(), kept }: JoinFleetOptions = {}): JoinFleet {
  const replica = `${name.replaceAll(' ', '-')}-${randomBytes(3).toString('hex')}`
  const join: JoinFleet['join'] = (sources) => {
    const { config, migration, log, clocks } = sources
    const { modes, rollouts, onNote, follow, hear } = migration
    const failed = (error: unknown) => log.error({ err: error }, 'a part of the fleet failed')
    const origin = { tables: tablesHash(), build: config['upstream.v2Build'] }
    const upstreams = upstreamsOf({ v2: config['upstream.v2'], v1: config['upstream.v1'] })
    const counts = { epoch: epochHash(origin), ...upstreams }
    const settings = { store, name, clocks, failed, id: replica, modes: () => sharedModes.said(), counts }
    const { fleet, onExchange } = createToldFleet(settings, log)
    // The modes come first: what the other parts read belongs to a version of them.
    const sharedModes = openSharedModes(fleet, sources, kept)
    const leader = createLeader({ id: replica, ticks: clocks.ticks })
    const notes = createNotesPart({ id: replica, onNote, follow, hear, soon: fleet.soon })
    const told = createNotesTold({ fleet, leader, notes, onNote, clocks })
    // Each matter that is shared is one line here: fleet.add(…)
    fleet.add(leader)
    fleet.add(told)
    fleet.add(notes)
    shareCircuits(migration, fleet, clocks)
    shareJudging(migration, fleet, clocks)
    fleet.add(shareBudget(config['fallback.perMinute'], migration.budget, fleet))
    const evidence = shareEvidence(migration, fleet, clocks, { ...origin, isNewStore, failed })
    const answers = shareAnswers({ ...sources, isNewStore }, fleet, leader, evidence)
    const evidenceName = () => evidence.epochs.names().evidence
    const modesVersion = () => modes.state().version
    const shared = createRolloutsPart({ fleet, leader, rollouts, modesVersion, evidenceName, clocks, failed })
    const readiness = shareReadiness(migration, { leader, evidence, clients: answers.clients, clocks, failed })
    // After the circuits: what closed one is known before the rollout that was resumed.
    fleet.add(shared)
    fleet.add(readiness)
    const warnOfUpstreams = createUpstreamWarning(fleet, log)
    const look = () => {
      shared.look()
      told.look()
      readiness.look()
      warnOfUpstreams()
    }
    const end = clocks.repeat(look, ROLLOUTS_LOOK_MS)
    const close = async () => {
      end()
      leader.resign()
      await Promise.all([fleet.close(), sharedModes.close()])
    }
    // One process with a file, and the supervisor of workers, are asked at one place.
    const needsMatch = config['store.url']?.startsWith('redis') ?? false
    const standing = storeStandingOf(fleet, sharedModes, evidence.epochs)
    const { steer } = shared
    return { fleet, leader, evidence, answers, modes: sharedModes, steer, onTell: told.onTell, onExchange, needsMatch, standing, close }
  }
  return { replica, join }
}
