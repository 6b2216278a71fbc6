import type { KindOf } from '../diff/clients/request-kind.ts'
import { identify } from '../serve/caller.ts'
import type { ClientRequest } from '../serve/request.ts'
import { type Backend, COMPARING, hasFailed, isRead, MODE_HEADER, SERVED_BY, type Served, type Sides } from '../serve/sides.ts'
import type { AskRest } from '../serve/upstream/v1.ts'
import type { Positions } from './choose/circuit-position.ts'
import { createPagingSides } from './choose/paging-sides.ts'
import type { ModeRules } from './choose/rules.ts'
import type { RulesInForce } from './choose/rules-in-force.ts'
import type { Journal } from './journal.ts'
import { countKnown } from './known-traffic.ts'
import { createModesState, type ModesStateHolder } from './modes-state.ts'
import type { Observer } from './observe/observer.ts'
import type { Rollouts } from './rollout/rollouts.ts'
import type { Budget } from './serve/budget.ts'
import { createWatch } from './serve/diff.ts'
import { createFallback } from './serve/fallback.ts'
import { createTell } from './serve/told.ts'
import { createWitnesses, type Witnesses } from './serve/witnesses.ts'
import { createTraffic } from './traffic.ts'
import { countUnknown } from './unknown-traffic.ts'

/** The modes of a migration decide who answers; see `ModeRules`. */
export interface Modes extends Sides, Omit<ModesStateHolder, 'inForce'>, Pick<RulesInForce, 'hold' | 'refuse'> {
  /** The rules with the share in force in place of each rollout. */
  inForce(): ModeRules
  /** The rollouts of the rules in force. */
  readonly rollouts: Rollouts['all']
  readonly steer: Rollouts['steer']
  /** What a fleet shares of the writes. */
  readonly witnesses: Pick<Witnesses, 'ownWrites' | 'recentWrites'>
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
