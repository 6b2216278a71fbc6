import type { IncomingHttpHeaders } from 'node:http'
import type { KindOf } from '../diff/clients/request-kind.ts'
import { type Identified, identify } from '../request/caller.ts'
import type { ClientRequest } from '../request/request.ts'
import type { Operation } from '../tables/operations/operation.ts'
import type { AskRest } from '../upstream/ask-rest.ts'
import type { Positions } from './choose/circuit-position.ts'
import { COMPARING, type Mode, SERVED_BY } from './choose/mode.ts'
import { createPagingSides } from './choose/paging-sides.ts'
import type { ModeRules } from './choose/rules.ts'
import type { RulesInForce } from './choose/rules-in-force.ts'
import { MODE_HEADER } from './choose/select.ts'
import type { Journal } from './journal.ts'
import { countKnown, type RequestEnd } from './known-traffic.ts'
import { createModesState, type ModesStateHolder } from './modes-state.ts'
import type { Observer } from './observe/observer.ts'
import type { Rollouts } from './rollout/rollouts.ts'
import type { Accepted } from './serve/accepted.ts'
import { type Backend, hasFailed, isRead, type Served } from './serve/backend.ts'
import type { Budget } from './serve/budget.ts'
import { createWatch } from './serve/diff.ts'
import { createFallback } from './serve/fallback.ts'
import { createTell } from './serve/told.ts'
import { createWitnesses, type Witnesses } from './serve/witnesses.ts'
import { createTraffic, type KeepRequest } from './traffic.ts'
import { countUnknown } from './unknown-traffic.ts'

/** What is decided about a request before it is served. */
export interface Choice extends Identified {
  readonly mode: Mode
  /** The round of rollouts in which the mode was chosen. */
  readonly round?: number
}

/** Decides which side answers an operation; see `ModeRules`. */
export interface Modes extends Omit<ModesStateHolder, 'inForce'>, Pick<RulesInForce, 'hold' | 'refuse'> {
  /** The rules with the share in force in place of each rollout. */
  inForce(): ModeRules
  /** The rollouts of the rules in force. */
  readonly rollouts: Rollouts['all']
  readonly steer: Rollouts['steer']
  /** Chooses the mode of one request to an operation with a plan. Throws an ApiError if a tester's choice cannot be granted. */
  choose(operation: Operation, url: string, headers: IncomingHttpHeaders): Choice
  /** Identifies the caller of an operation that only v1 can answer. */
  identify(headers: IncomingHttpHeaders): Identified
  /** Notes the status with which a service itself answered: only accepted callers count. */
  readonly heard: Accepted['heard']
  /** Counts a finished request. One that was refused without asking a service is no traffic. See `countKnown`. */
  used(choice: Choice, operation: Operation, end: RequestEnd): KeepRequest | undefined
  /** Counts a request that v1 answered well at a path that no table has. */
  usedUnknown(method: string, path: string, headers: IncomingHttpHeaders): void
  readonly writing: Witnesses['writing']
  /** What a fleet shares of the writes. */
  readonly witnesses: Pick<Witnesses, 'ownWrites' | 'recentWrites'>
  /** Answers in the chosen mode; `translated` answers from v2. */
  serve(mode: Mode, request: ClientRequest, translated: Backend): Promise<Served>
  /** Records the counts. */
  flush(): void
}

interface V1Means {
  readonly ask: AskRest
  readonly observer: Observer
  readonly budget: Budget
}

export interface ModesSettings {
  readonly journal: Journal
  /** The v1 side. Without it, v2 answers everything. */
  readonly v1?: V1Means | undefined
  readonly subjects: boolean
  readonly positions: Positions
  readonly rollouts: Rollouts
  /** The side that answers reads that v2 can only emulate, if no rule names them. */
  readonly emulated: Emulated
  /** The path of the configuration file, if there is one. */
  readonly configFile: string | undefined
  readonly kindOf: KindOf
  readonly now: () => number
}

export type Emulated = 'v1-first' | 'v2'

export function createModes(initial: ModeRules, settings: ModesSettings): Modes {
  const { journal, v1, positions, rollouts, subjects, emulated, configFile, kindOf, now } = settings
  const witnesses = createWitnesses()
  const { accepted } = witnesses
  const { inventory, recorder } = journal
  const traffic = createTraffic({ inventory, recorder, kindOf, now })
  const pagingSides = createPagingSides()
  const stateParts = { journal, rollouts, hasV1: v1 !== undefined, configFile, subjects, now }
  const { inForce, ...modesState } = createModesState(initial, stateParts)

  return {
    ...modesState,
    ...{ hold: inForce.hold, refuse: inForce.refuse },
    inForce: inForce.rules,
    rollouts: rollouts.all,
    steer: rollouts.steer,
    identify: ({ authorization }) => identify(authorization),
    choose(operation, url, headers) {
      const who = identify(headers.authorization)
      const { caller, subject, credential } = who
      if (!v1) return { caller, subject, credential, mode: 'v2' }
      const wish = headers[MODE_HEADER]
      const asked = typeof wish === 'string' ? wish : undefined
      const isV1First = emulated === 'v1-first' && operation.kind === 'emulated' && isRead(operation)
      const mode = inForce.select({ caller, subject, operation: operation.id, wish: asked, isV1First, circuit: positions(operation) })
      const kept = pagingSides.stay(mode, operation, url, caller)
      // A page that continues a list tells nothing of the share in force.
      return { caller, subject, credential, mode: kept, ...(kept === mode && { round: inForce.round() }) }
    },
    heard: accepted.heard,
    used: countKnown({ accepted, traffic, inventory, pagingSides, rollouts, subjects }),
    usedUnknown: countUnknown(accepted, traffic, inventory, subjects),
    writing: witnesses.writing,
    witnesses,
    serve: v1 ? servedBy(v1, witnesses, journal) : (_, request, translated) => translated(request),
    flush: traffic.flush,
  }
}

/** Returns what serves from the side of a mode, and has the answer compared if the mode says so. */
function servedBy({ ask, observer, budget }: V1Means, witnesses: Witnesses, journal: Journal): Modes['serve'] {
  const { accepted } = witnesses
  const fromV1: Backend = async ({ raw, client, operation, credential }) => {
    const answer = await ask(raw, client)
    accepted.heard(operation, credential, answer.status)
    return { answer, by: 'v1' }
  }
  const fallBack = createFallback(fromV1, budget, accepted)
  const tell = createTell(accepted, journal)
  const watch = createWatch(observer, witnesses)
  const told = (request: ClientRequest) => (served: Served) => {
    if (!hasFailed(served.answer.status)) return tell(request, served)
    return fallBack(request, served).then((instead) => tell(request, instead))
  }
  return (mode, request, translated) => {
    const watched = COMPARING.has(mode) ? watch(mode, request) : undefined
    const served = SERVED_BY[mode] === 'v1' ? fromV1(request) : translated(request).then(told(request))
    return watched ? served.then(watched) : served
  }
}
