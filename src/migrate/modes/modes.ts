import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { asApiError } from '../../errors.ts'
import { identify } from '../../serve/caller.ts'
import type { ClientRequest } from '../../serve/request.ts'
import { type Backend, COMPARING, hasFailed, isRead, MODE_HEADER, SERVED_BY, type Served, type Sides } from '../../serve/sides.ts'
import type { AskRest } from '../../serve/upstream/v1.ts'
import { suggestion } from '../../tables/check.ts'
import type { KindOf } from '../clients.ts'
import type { Opening } from '../evidence/circuit.ts'
import type { Observer } from '../observe/observer.ts'
import { type Actor, describeActor } from '../records/record.ts'
import type { Rollouts } from '../rollout/rollouts.ts'
import type { Journal } from './journal.ts'
import { createLatencies } from './latency.ts'
import { describeChange, describeRules, type ModeRules, needV1, readModeRules } from './rules.ts'
import { createPagingSides, createRulesInForce, type PagingSides, type Positions, type RulesInForce } from './select.ts'
import { type Budget, createFallback, createTell, createWatch, createWitnesses, type Watched, type Witnesses } from './serve.ts'
import { countKnown, countUnknown, createTraffic } from './traffic.ts'

/** Rules and what put them there. */
interface PutRules {
  readonly rules: ModeRules
  readonly by: Actor
  readonly drift?: string
}

/** Tells a change in a note. A file that replaces what somebody put says whose rules they were. */
export function changeOf(before: PutRules, after: PutRules, subjects: boolean): { text: string; from: string; to: string } {
  const isLost = before.drift !== undefined && after.by.source === 'file'
  const replaced = isLost ? ` (it replaces what was put by ${describeActor(before.by)})` : ''
  const text = `${describeActor(after.by)}${replaced}: ${describeChange(before.rules, after.rules, subjects)}`
  return { text, from: describeRules(before.rules, subjects), to: describeRules(after.rules, subjects) }
}

interface Drift {
  /** What the configuration says. */
  readonly configured: ModeRules
  readonly rules: ModeRules
  /** The path of the configuration file. */
  readonly file: string
  readonly by: Actor
  /** Subjects of clients may be told. */
  readonly subjects: boolean
  /** Replicas share the rules, and a restart keeps them. */
  readonly isShared: boolean
}

/** Says in sentences that other rules are in force than the configuration says; undefined if they are the same. */
export function driftOf({ configured, rules, file, by, subjects, isShared }: Drift): string | undefined {
  if (isDeepStrictEqual(configured, rules)) return undefined
  const said = describeRules(configured, subjects)
  const end = isShared
    ? 'All replicas share those. A change of the file replaces them; a restart does not.'
    : 'A restart, or a change of the file, brings the former back.'
  return `The configuration (${file}) says: ${said}. Other rules were put by ${describeActor(by)}. ${end}`
}

/** The rules in force and what put them there. Every change makes a new state. */
export interface ModesState {
  readonly rules: ModeRules
  /** 1 at the start; each change adds 1. Replicas that share a store count together. */
  readonly version: number
  /** Tells this version from those of every other process that counts from 1 by itself. */
  readonly tag: string
  /** What made the last change, and when, in milliseconds since 1970. */
  readonly by: Actor
  readonly at: number
  /** If the configuration file says something else, because somebody put other rules: what it says, in sentences. */
  readonly drift?: string
}

/** Rules that replicas share. */
export type SharedModes = Omit<ModesState, 'drift'>

/** Holds the rules in force. */
export interface ModesStateHolder {
  state(): ModesState
  /** Reads rules that can be put in force here, or says in a sentence why they cannot. */
  check(rules: unknown): ModeRules | { readonly problem: string }
  /**
   * Applies other rules and closes every circuit, except those of a rollout that is turned back and stays so. Returns a sentence if it
   * cannot.
   */
  change(rules: unknown, by: Actor): string | undefined
  /** Applies rules that replicas share, likewise. Only the replica at which they were put notes them. */
  adopt(shared: SharedModes, isOwn: boolean): void
  /** Learns what the configuration file says by now, and applies nothing. */
  configure(rules: ModeRules): void
  /** The open circuits. */
  circuits(): readonly OpenCircuit[]
  /** Closes the open circuit of an operation and drops its counts. Returns a sentence if it cannot. */
  closeCircuit(operation: string, by: Actor): string | undefined
  /** Closes all open circuits that no rollout keeps, and returns their operations. */
  closeCircuits(by: Actor): readonly string[]
  readonly inForce: RulesInForce
}

/** A circuit that is open: v2 gets no share of its operation. */
export interface OpenCircuit extends Opening {
  readonly operation: string
  /** The rollout that it turned back. Only a command to that closes it. */
  readonly rollout?: string
  /** What closes it: `a person closes it`. */
  readonly until: string
}

interface StateParts {
  readonly journal: Pick<Journal, 'circuit' | 'note' | 'terms'>
  readonly rollouts: Rollouts
  readonly hasV1: boolean
  /** The path of the configuration file, if there is one. */
  readonly configFile: string | undefined
  /** Subjects of clients may be told. */
  readonly subjects: boolean
  readonly now: () => number
}

export function createModesState(initial: ModeRules, parts: StateParts): ModesStateHolder {
  const { journal, rollouts, hasV1, configFile: file, subjects, now } = parts
  let configured = initial
  const boot = randomBytes(6).toString('hex')
  const by: Actor = { source: 'start', ...(file !== undefined && { path: file }) }
  let state: ModesState = { rules: initial, version: 1, tag: `${boot}-1`, by, at: now() }
  let isShared = false
  const inForce = createRulesInForce(rollouts, () => state.rules)
  const compared = ({ drift: _, ...next }: ModesState): ModesState => {
    const drift = file === undefined ? undefined : driftOf({ configured, rules: next.rules, file, by: next.by, subjects, isShared })
    return { ...next, ...(drift !== undefined && { drift }) }
  }
  const check = (value: unknown) => {
    const rules = readModeRules(value)
    return !('problem' in rules) && !hasV1 && needV1(rules) ? { problem: NEEDS_V1 } : rules
  }
  const closeThose = (isMeant: (operation: string) => boolean) =>
    journal.circuit.close((operation) => isMeant(operation) && rollouts.keptOpenBy(operation) === undefined)
  const noteClosed = (operations: readonly string[], text: string, by: Actor) => {
    for (const operation of operations) journal.note({ what: 'circuit-closed', text, operation, by, from: 'open', to: 'closed' })
  }
  const circuits = () =>
    Array.from(journal.circuit.openings(), ([operation, opening]): OpenCircuit => {
      const rollout = rollouts.keptOpenBy(operation)
      const closes = journal.circuit.canClose(operation) ? 'its answers prove v2, or a person closes it' : 'a person closes it'
      if (rollout === undefined) return { operation, ...opening, until: closes }
      return { operation, ...opening, rollout, until: `the rollout ${rollout} is resumed or aborted` }
    })
  const put = (next: SharedModes, isOwn: boolean) => {
    const { rules, by, version } = next
    const before = state
    state = compared(next)
    journal.terms.begin('modes')
    if (isOwn) journal.note({ what: 'modes', by, ...changeOf(before, state, subjects), version })
    if (isOwn) rollouts.change(rules, by)
    else rollouts.adopt(rules)
    const closed = closeThose(() => true)
    if (isOwn) noteClosed(closed, 'the modes changed', by)
    inForce.follow()
  }
  const closeByHand = (isMeant: (operation: string) => boolean, by: Actor) => {
    const closed = closeThose(isMeant)
    noteClosed(closed, 'it was closed by hand', by)
    if (closed.length > 0) inForce.follow()
    return closed
  }
  return {
    state: () => state,
    check,
    change(value, by) {
      const rules = check(value)
      if ('problem' in rules) return rules.problem
      if (by.source === 'file') configured = rules
      const version = state.version + 1
      put({ rules, version, tag: `${boot}-${version}`, by, at: now() }, true)
      return undefined
    },
    adopt(shared, isOwn) {
      isShared = true
      // The same change under another number closes nothing.
      if (!isDeepStrictEqual([shared.rules, shared.by, shared.at], [state.rules, state.by, state.at])) return put(shared, isOwn)
      state = compared(shared)
      inForce.follow()
    },
    configure(rules) {
      configured = rules
      state = compared(state)
    },
    circuits,
    closeCircuit(operation, by) {
      if (closeByHand((one) => one === operation, by).length > 0) return undefined
      const open = circuits()
      const found = open.find((one) => one.operation === operation)
      if (found) return keptSentence(found)
      const names = open.map((one) => one.operation)
      const hint = names.length === 0 ? 'none is open' : suggestion(operation, names, `open are ${names.join(', ')}`)
      return `there is no open circuit ${JSON.stringify(operation)}; ${hint}`
    },
    closeCircuits: (by) => closeByHand(() => true, by),
    inForce,
  }
}

/** Says why a circuit stays open, without a full stop. */
export function keptSentence({ operation, rollout }: OpenCircuit): string {
  return `the circuit of ${operation} turned back the rollout ${rollout}; resume or abort that, such as by: crosswalk rollouts ${rollout} resume`
}

export const NEEDS_V1 = 'The modes need a v1 service: set upstream.v1 (CROSSWALK_UPSTREAM_V1), or let v2 answer everything.'

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
  const latencies = createLatencies({ inForce, slow: journal.teller.slow, ticks: () => performance.now() })

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
    used: countKnown({ accepted, traffic, inventory, pagingSides, rollouts, latencies, subjects }),
    usedUnknown: countUnknown(accepted, traffic, inventory, subjects),
    writing: witnesses.writing,
    witnesses,
    serve: v1 ? servedBy(v1, { witnesses, journal, pagingSides }) : (_, request, translated) => translated(request),
    flush: traffic.flush,
  }
}

/** Passes the refusal of the tables on to the observer as well: v1 may accept what they refuse. */
function refusedIn({ served }: Watched) {
  return (thrown: unknown): never => {
    served({ answer: { status: asApiError(thrown).http, headers: {}, body: undefined }, by: 'v2', unasked: true })
    throw thrown
  }
}

interface ServedByParts {
  readonly witnesses: Witnesses
  readonly journal: Journal
  readonly pagingSides: PagingSides
}

/** Returns what serves from the side of a mode, and has the answer compared if the mode says so. */
function servedBy({ ask, observer, budget }: V1Means, { witnesses, journal, pagingSides }: ServedByParts): Modes['serve'] {
  const { accepted } = witnesses
  const fromV1: Backend = async (request) => {
    const { raw, client, operation, credential } = request
    const answer = await ask(raw, client)
    accepted.heard(operation, credential, answer.status, 'v1')
    if (!isRead(operation) && accepted.has(credential)) observer.wroteV1(request, answer.status)
    return { answer, by: 'v1' }
  }
  const fallBack = createFallback({ v1: fromV1, budget, accepted, pagingSides })
  const tell = createTell(accepted, journal)
  const watch = createWatch(observer, witnesses, journal.terms)
  const told = (request: ClientRequest) => {
    const term = journal.terms.now
    return (served: Served) => {
      if (!hasFailed(served.answer.status)) return tell(request, served, term)
      return fallBack(request, served).then((instead) => tell(request, instead, term))
    }
  }
  return (mode, request, translated) => {
    const watched = COMPARING.has(mode) ? watch(mode, request) : undefined
    const served = SERVED_BY[mode] === 'v1' ? fromV1(request) : translated(request).then(told(request))
    if (!watched) return served
    return served.then(watched.served, SERVED_BY[mode] === 'v1' ? watched.failed : refusedIn(watched))
  }
}
