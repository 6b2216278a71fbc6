import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { FleetAnswer, FleetAnswers } from '../../admin/fleet-routes.ts'
import type { ReportReplica } from '../../admin/report/report.ts'
import { shareBudget, shareCircuits } from '../../fleet/circuits.ts'
import { shareClients } from '../../fleet/clients.ts'
import { createNotesPart, createNotesReported, shareComparisons } from '../../fleet/comparisons.ts'
import type { Epochs } from '../../fleet/epochs.ts'
import { createStoreLog, type FleetReplica, newestOf, type UnreadReplica } from '../../fleet/exchange.ts'
import {
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
import { createRolloutsPart } from '../../fleet/rollouts/rollouts.ts'
import type { Store } from '../../fleet/store/store.ts'
import { withNames } from '../../migrate/clients.ts'
import { describeOpening, readOpening } from '../../migrate/evidence/circuit.ts'
import { type Migration, ROLLOUTS_LOOK_MS } from '../../migrate/migration.ts'
import type { Comparison } from '../../migrate/records/record.ts'
import { epochHash } from '../../migrate/records/record-file.ts'
import type { Clocks } from '../../serve/bounds.ts'
import type { StoreStanding } from '../../serve/upstream/health.ts'
import type { Operation } from '../../tables/operation.ts'
import type { Config } from '../config/settings.ts'
import { originOf } from './migration.ts'

/** Leaves out how long ago a replica was heard of, if it lives: otherwise each answer would be another. */
function silenceOf({ isLive, seenMs }: UnreadReplica): Pick<ReportReplica, 'silentSeconds'> {
  return isLive ? {} : { silentSeconds: Math.round(seenMs / 1000) }
}

/** Returns the replicas as a report shows them: this one first. `leader` is the id of the replica that decides. */
function reportReplicas(replicas: readonly FleetReplica[], leader: string | undefined): readonly ReportReplica[] {
  const newest = newestOf(replicas)
  const rows = replicas.map((one): ReportReplica => {
    const { id, isSelf, since, version, unread, waiting, dropped, lost } = one
    const modes = { version, behind: newest - version, ...(unread !== undefined && { unread }) }
    const others = otherServices(one, replicas)
    return {
      ...{ id, isSelf, isLeader: id === leader, since, ...modes, ...silenceOf(one) },
      ...(others.length > 0 && { otherServices: others }),
      ...{ waiting, dropped, lost },
    }
  })
  return rows.sort((a, b) => Number(b.isSelf) - Number(a.isSelf) || (a.id < b.id ? -1 : 1))
}

/** What a server gives to the fleet that it joins. */
interface FleetSources {
  readonly config: Config
  readonly migration: Migration
  readonly operations: readonly Operation[]
  readonly log: Logger
  readonly clocks: Clocks
  /** The path of the configuration file, if there is one. */
  readonly file: string | undefined
}

/** Makes the modes of a server those of its fleet, and tells in the log what happens to them. `given` is what a supervisor knew. */
function openSharedModes(
  fleet: Fleet,
  { config, migration, log, clocks, file }: FleetSources,
  given: KeptModes | undefined,
  epochs: () => Epochs,
): ShareModes {
  const { modes, journal, note, onNote } = migration
  const first = { rules: config.modes, by: { source: 'start', ...(file !== undefined && { path: file }) } } as const
  return shareModes({
    ...{ fleet, modes, clocks, first, given, epochs },
    cache: config['store.cache'],
    leaseMs: config['store.leaseMs'],
    openCircuits: () =>
      Object.fromEntries(Array.from(journal.circuit.openings(), ([operation, opening]) => [operation, describeOpening(opening)])),
    reopen: (operation, described) => journal.circuit.reopen(operation, readOpening(described, clocks.now())),
    onTurn: (listener) => onNote(({ what }) => (what === 'circuit' || what === 'circuit-closed') && listener()),
    events: {
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

/** What ends with a process whose store does not take it. */
export const UNTOLD = 'what it was not told is lost, wrong answers among it; begin a new epoch if there may be some'

const CACHED = 'the store does not answer: the last known modes are active, those of store.cache'

const GIVEN = 'the store does not answer: the last known modes are active, those of the supervisor'

/** Shares what people ask for, and answers for all replicas. If the store does not answer, it tells what this replica knows. */
function shareAnswers(
  { config, migration, operations, clocks, isNewStore }: FleetSources & { readonly isNewStore: boolean },
  fleet: Fleet,
  leader: Pick<Leader, 'id'>,
  evidence: FleetEvidence,
): FleetAnswers {
  const readShared = shareClients(migration, fleet, evidence.epochs, clocks.now, operations, isNewStore)
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
      const { evidence: seen, traffic, uncounted, declarations, fleet: view } = await evidence.counted()
      const { clients, uncounted: beyond } = await readClients().catch(() => ({ clients: own.clients(), uncounted: 0 }))
      await shared.read().catch(() => {})
      const { problems = [], busy = [], epoch = { nth: 0, tables: '' } } = view ?? {}
      const unread = fleet.unread().map((one) => ({ id: one.id, ...silenceOf(one) }))
      return {
        ...{ evidence: seen, traffic, clients, declarations, uncounted: uncounted + beyond },
        fleet: { problems, busy, epoch, replicas: reportReplicas(fleet.replicas(), leader.id()), unread },
      }
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

/** Returns a function that warns when live replicas reach other services, once for each replica. Call it often. */
function createUpstreamWarning(fleet: Pick<Fleet, 'replicas'>, log: Pick<Logger, 'warn'>): () => void {
  let told: readonly string[] = []
  return () => {
    const problems = upstreamProblems(fleet.replicas())
    for (const problem of problems) if (!told.includes(problem)) log.warn(problem)
    told = problems
  }
}

export type JoinFleet = ReturnType<typeof joinFleet>

/** What a server has of its fleet. */
export type JoinedFleet = ReturnType<JoinFleet['join']>

/**
 * Returns what joins the fleet that shares a store: `createServer(config, mappings, { join: joinFleet(store) })`. A store that is new at each
 * start is told what is read back from records. `name` is what a person knows the process by. `kept` is what its supervisor knew of the
 * modes when it started.
 */
export function joinFleet(
  store: Store,
  {
    isNewStore = false,
    name = hostname(),
    kept,
  }: { readonly isNewStore?: boolean; readonly name?: string; readonly kept?: KeptModes | undefined } = {},
) {
  const replica = `${name.replaceAll(' ', '-')}-${randomBytes(3).toString('hex')}`
  const join = (sources: FleetSources) => {
    const { config, migration, log, clocks } = sources
    const { modes, rollouts, onNote, follow, hear } = migration
    const failed = (error: unknown) => log.error({ err: error }, 'a part of the fleet failed')
    const origin = originOf(config)
    const upstreams = upstreamsOf({ v2: config['upstream.v2'], v1: config['upstream.v1'] })
    const counts = { epoch: epochHash(origin), ...upstreams }
    const exchanged: ((isAnswered: boolean, seconds: number) => void)[] = []
    const tellStore = createStoreLog(log.warn.bind(log), log.info.bind(log))
    const ended: FleetSettings['ended'] = (before, after, seconds) => {
      tellStore(before, after)
      for (const listener of exchanged) listener(after.problem === undefined, seconds)
    }
    const fleet = createFleet({ store, name, clocks, failed, id: replica, modes: () => sharedModes.said(), counts, ended })
    // The modes come first: what the other parts read belongs to a version of them.
    const sharedModes = openSharedModes(fleet, sources, kept, () => evidence.epochs)
    const leader = createLeader(replica, clocks.ticks)
    const notes = createNotesPart({ onNote, follow, hear, soon: fleet.soon })
    const told = createNotesReported({ fleet, leader, notes, onNote, clocks })
    // Each matter that is shared is one line here: fleet.add(…), or a function that calls it.
    fleet.add(leader)
    fleet.add(told)
    fleet.add(notes)
    shareCircuits(migration, fleet, clocks)
    shareJudging(migration, fleet, clocks)
    shareBudget(config['fallback.perMinute'], migration.budget, fleet)
    const evidence = shareEvidence(migration, fleet, clocks, { ...origin, isNewStore, failed })
    const answers = shareAnswers({ ...sources, isNewStore }, fleet, leader, evidence)
    evidence.epochs.onBegin(sharedModes.keep)
    const evidenceName = () => evidence.epochs.names().evidence
    const modesVersion = () => modes.state().version
    const shared = createRolloutsPart({ fleet, leader, rollouts, modesVersion, evidenceName, clocks, failed })
    const readiness = shareReadiness(migration, leader, evidence, answers.clients, clocks, failed)
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
    return {
      ...{ fleet, leader, evidence, answers, modes: sharedModes, steer: shared.steer },
      /** Passes on the notes of which this replica is to tell. */
      onTell: told.onTell,
      /** Calls a listener after each exchange with the store: whether it was answered, and the seconds that it took. */
      onExchange: (listener: (isAnswered: boolean, seconds: number) => void): void => void exchanged.push(listener),
      /**
       * A PUT of modes needs `If-Match`: people may change them at several replicas at once. One process with a file, and the supervisor of
       * workers, are asked at one place.
       */
      needsMatch: config['store.url']?.startsWith('redis') ?? false,
      /** What `/readyz` tells of the store. */
      standing: storeStandingOf(fleet, sharedModes, evidence.epochs),
      /** Decides nothing from now on, and says goodbye to the other replicas. */
      async close() {
        end()
        leader.resign()
        const [problem] = await Promise.all([fleet.close(), sharedModes.close()])
        if (problem !== undefined) log.warn(`${problem}: ${UNTOLD}`)
      },
    }
  }
  return {
    /** Tells this process from every other, and from those before it. */
    replica,
    /** Makes a server a replica of the fleet. */
    join,
  }
}
