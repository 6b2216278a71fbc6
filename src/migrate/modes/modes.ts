import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { identify } from '../../serve/request.ts'
import { isRead, MODE_HEADER, type Sides } from '../../serve/sides.ts'
import { suggestion } from '../../tables/check.ts'
import type { KindOf } from '../clients.ts'
import type { Opening } from '../evidence/circuit.ts'
import { type Actor, describeActor } from '../records/record.ts'
import type { Rollouts } from '../rollout/rollouts.ts'
import type { Journal } from './journal.ts'
import { createLatencies } from './latency.ts'
import { describeChange, describeRules, type ModeRules, needV1, readModeRules } from './rules.ts'
import { createPagingSides, createRulesInForce, type Positions } from './select.ts'
import { createWriteHistory, servedBy, type V1Side } from './serve.ts'
import { createTraffic } from './traffic.ts'

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

/** Tells a change in a note. A file that replaces what somebody put says whose rules they were. */
function changeOf(before: ModesState, { rules, by }: ModesState, subjects: boolean) {
  const isLost = before.drift !== undefined && by.source === 'file'
  const replaced = isLost ? ` (it replaces what was put by ${describeActor(before.by)})` : ''
  const text = `${describeActor(by)}${replaced}: ${describeChange(before.rules, rules, subjects)}`
  return { text, from: describeRules(before.rules, subjects), to: describeRules(rules, subjects) }
}

/** A circuit that is open: v2 gets no share of its operation. */
export interface OpenCircuit extends Opening {
  readonly operation: string
  /** The rollout that it turned back. Only a command to that closes it. */
  readonly rollout?: string
  /** What closes it: `a person closes it`. */
  readonly until: string
}

/** Holds the rules in force. `configFile` is the path of the configuration file, if there is one. */
function createModesState(initial: ModeRules, { journal, rollouts, v1, configFile, subjects, now }: ModesSettings) {
  let configured = initial
  const boot = randomBytes(6).toString('hex')
  const by: Actor = { source: 'start', ...(configFile !== undefined && { path: configFile }) }
  let state: ModesState = { rules: initial, version: 1, tag: `${boot}-1`, by, at: now() }
  /** Replicas share the rules, and a restart keeps them. */
  let areShared = false
  const inForce = createRulesInForce(rollouts, () => state.rules)
  /** Says in sentences that other rules are in force than the configuration says; undefined if they are the same. */
  const driftOf = ({ rules, by }: SharedModes) => {
    if (configFile === undefined || isDeepStrictEqual(configured, rules)) return undefined
    const said = describeRules(configured, subjects)
    const end = areShared
      ? 'All replicas share those. A change of the file replaces them; a restart does not.'
      : 'A restart, or a change of the file, brings the former back.'
    return `The configuration (${configFile}) says: ${said}. Other rules were put by ${describeActor(by)}. ${end}`
  }
  const compared = ({ drift: _, ...next }: ModesState): ModesState => {
    const drift = driftOf(next)
    return { ...next, ...(drift !== undefined && { drift }) }
  }
  /** Reads rules that can be put in force here, or says in a sentence why they cannot. */
  const check = (value: unknown) => {
    const rules = readModeRules(value)
    return !('problem' in rules) && !v1 && needV1(rules) ? { problem: NEEDS_V1 } : rules
  }
  /** Closes the open circuits that are meant and that no rollout keeps, and returns their operations. */
  const close = (isMeant: (operation: string) => boolean, text: string, by: Actor | undefined) => {
    const closed = journal.circuit.close((operation) => isMeant(operation) && rollouts.keptOpenBy(operation) === undefined)
    if (by) for (const operation of closed) journal.note({ what: 'circuit-closed', text, operation, by, from: 'open', to: 'closed' })
    return closed
  }
  /** The open circuits. */
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
    close(() => true, 'the modes changed', isOwn ? by : undefined)
    inForce.follow()
  }
  const closeByHand = (isMeant: (operation: string) => boolean, by: Actor) => {
    const closed = close(isMeant, 'it was closed by hand', by)
    if (closed.length > 0) inForce.follow()
    return closed
  }
  return {
    inForce,
    state: () => state,
    check,
    /**
     * Applies other rules and closes every circuit, except those of a rollout that is turned back and stays so. Returns a sentence if it
     * cannot.
     */
    change(value: unknown, by: Actor): string | undefined {
      const rules = check(value)
      if ('problem' in rules) return rules.problem
      if (by.source === 'file') configured = rules
      const version = state.version + 1
      put({ rules, version, tag: `${boot}-${version}`, by, at: now() }, true)
      return undefined
    },
    /** Applies rules that replicas share, likewise. Only the replica at which they were put notes them. */
    adopt(shared: SharedModes, isOwn: boolean): void {
      areShared = true
      if (isDeepStrictEqual([shared.rules, shared.by, shared.at], [state.rules, state.by, state.at])) {
        // The same change under another number closes nothing.
        state = compared(shared)
        inForce.follow()
      } else put(shared, isOwn)
    },
    /** Learns what the configuration file says by now, and applies nothing. */
    configure(rules: ModeRules): void {
      configured = rules
      state = compared(state)
    },
    circuits,
    /** Closes the open circuit of an operation and drops its counts. Returns a sentence if it cannot. */
    closeCircuit(operation: string, by: Actor): string | undefined {
      if (closeByHand((one) => one === operation, by).length > 0) return undefined
      const open = circuits()
      const found = open.find((one) => one.operation === operation)
      if (found) return keptSentence(found)
      const names = open.map((one) => one.operation)
      const hint = names.length === 0 ? 'none is open' : suggestion(operation, names, `open are ${names.join(', ')}`)
      return `there is no open circuit ${JSON.stringify(operation)}; ${hint}`
    },
    /** Closes all open circuits that no rollout keeps, and returns their operations. */
    closeCircuits: (by: Actor) => closeByHand(() => true, by),
  }
}

/** Says why a circuit stays open, without a full stop. */
export function keptSentence({ operation, rollout }: OpenCircuit): string {
  return `the circuit of ${operation} turned back the rollout ${rollout}; resume or abort that, such as by: crosswalk rollouts ${rollout} resume`
}

export const NEEDS_V1 = 'The modes need a v1 service: set upstream.v1 (CROSSWALK_UPSTREAM_V1), or let v2 answer everything.'

export interface ModesSettings {
  readonly journal: Journal
  /** The v1 side. Without it, v2 answers everything. */
  readonly v1?: V1Side | undefined
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

export type Modes = ReturnType<typeof createModes>

/** The modes of a migration decide who answers; see `ModeRules`. */
export function createModes(initial: ModeRules, settings: ModesSettings) {
  const { journal, v1, positions, rollouts, emulated } = settings
  const history = createWriteHistory()
  const { accepted } = history
  const pagingSides = createPagingSides()
  const { inForce, ...state } = createModesState(initial, settings)
  const latencies = createLatencies(inForce, journal.circuitNotes.slow)
  const traffic = createTraffic(settings, accepted, pagingSides, latencies)
  const sides: Sides = {
    identify: ({ authorization }) => identify(authorization),
    choose(operation, url, headers) {
      const who = identify(headers.authorization)
      const { caller, subject, credential } = who
      if (!v1) return { caller, subject, credential, mode: 'v2' }
      const wish = headers[MODE_HEADER]
      const asked = typeof wish === 'string' ? wish : undefined
      const isV1First = emulated === 'v1-first' && operation.kind === 'emulated' && isRead(operation)
      const mode = inForce.select({ caller, subject, operation: operation.id, wish: asked, isV1First, circuit: positions(operation) })
      const kept = operation.paging ? pagingSides.stay(mode, operation, url, caller) : mode
      // A page that continues a list tells nothing of the share in force.
      return { caller, subject, credential, mode: kept, ...(kept === mode && { round: inForce.round }) }
    },
    noteStatus: accepted.noteStatus,
    used: traffic.used,
    usedUnknown: traffic.usedUnknown,
    writing: history.writing,
    serve: v1 ? servedBy(v1, history, journal, pagingSides) : (_mode, _request, fromV2, receiver) => fromV2(receiver),
  }
  return {
    ...sides,
    ...state,
    hold: inForce.hold,
    refuse: inForce.refuse,
    /** The rules with the share in force in place of each rollout. */
    inForce: inForce.rules,
    /** The rollouts of the rules in force. */
    rollouts: rollouts.all,
    steer: rollouts.steer,
    /** What a fleet shares of the writes. */
    history,
    /** Records the counts. */
    flush: traffic.flush,
  }
}
