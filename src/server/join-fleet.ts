import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { FleetAnswers } from '../admin/fleet-routes.ts'
import { shareBudget, shareCircuits } from '../fleet/circuits.ts'
import { createNotesPart, createNotesTold, type NotesTold } from '../fleet/comparisons.ts'
import { epochHash, tablesHash } from '../fleet/evidence.ts'
import { createLeader, type Fleet, type Leader, upstreamsOf } from '../fleet/fleet.ts'
import { shareJudging, shareReadiness } from '../fleet/judging.ts'
import type { KeptModes, ShareModes } from '../fleet/modes.ts'
import { type FleetEvidence, shareEvidence } from '../fleet/report.ts'
import { createRolloutsPart, type RolloutsPart } from '../fleet/rollouts/rollouts.ts'
import type { Store } from '../fleet/store/store.ts'
import { ROLLOUTS_LOOK_MS } from '../migrate/migration.ts'
import type { StoreStanding } from '../serve/upstream/health.ts'
import type { FleetSources } from './fleet/fleet-sources.ts'
import { openSharedModes } from './fleet/open-shared-modes.ts'
import { shareAnswers } from './fleet/share-answers.ts'
import { storeStandingOf } from './fleet/store-standing.ts'
import { createToldFleet, type OnExchange } from './fleet/told-fleet.ts'
import { createUpstreamWarning } from './fleet/upstream-warning.ts'

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
    const evidence = shareEvidence(migration, fleet, clocks, { ...origin, isNewStore })
    const answers = shareAnswers({ ...sources, isNewStore }, fleet, leader, evidence)
    const evidenceName = () => evidence.epochs.names().evidence
    const modesVersion = () => modes.state().version
    const shared = createRolloutsPart({ fleet, leader, rollouts, modesVersion, evidenceName, clocks, failed })
    const readiness = shareReadiness(migration, { leader, evidence, clocks, failed })
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
    const standing = storeStandingOf(fleet, sharedModes)
    const { steer } = shared
    return { fleet, leader, evidence, answers, modes: sharedModes, steer, onTell: told.onTell, onExchange, needsMatch, standing, close }
  }
  return { replica, join }
}
