import type { Identity } from '../../serve/request.ts'
import type { Mode, Side } from '../../serve/sides.ts'
import { type Opening, readOpening } from '../evidence/circuit.ts'
import type { Observation } from '../evidence/evidence.ts'
import type { Journal } from '../modes/journal.ts'
import type { ModeRules } from '../modes/rules.ts'
import { createRuleOf, operationsOf, type RuleOf } from '../modes/select.ts'
import type { Actor, Entry, Note, RolloutEntry } from '../records/record.ts'
import { type KnownFigures, knownFigure } from './evidence.ts'
import { planOf, shareOf } from './plan.ts'
import { type RolloutCommand, RolloutRun, type RunSources, readSavedRun, type SavedRun } from './run.ts'

/** The rollouts of the rules in force, by name. */
export type Runs = ReadonlyMap<string, RolloutRun>

/** What the records say last of one rollout. */
interface Known extends Pick<RolloutEntry, 'digest'> {
  readonly nth: number
  /** Absent once the modes had it no more. */
  readonly saved: SavedRun | undefined
}

/** The last turn of a circuit, by its note. */
interface CircuitTurn {
  readonly nth: number
  /** Undefined if it closed. */
  readonly opened: Opening | undefined
}

interface EarlierSources extends Pick<RunSources, 'now' | 'isShared'> {
  readonly journal: Pick<Journal, 'circuit' | 'note' | 'recorder' | 'order'>
  /** The epoch of this process. What was seen in another proves nothing now. */
  readonly epoch?: string | undefined
}

/** Lets rollouts go on where earlier records ended. */
class EarlierRuns {
  readonly #sources: EarlierSources
  readonly #runs: () => Runs
  readonly #known = new Map<string, Known>()
  readonly #turns = new Map<string, CircuitTurn>()
  /** The number of the last change of modes, which closes circuits. */
  #changed = 0
  #isOver = false

  constructor(sources: EarlierSources, runs: () => Runs) {
    this.#sources = sources
    this.#runs = runs
  }

  /** Takes an entry of earlier records, in the order of their times, until `end` is called. */
  entry(entry: Entry): void {
    if (this.#isOver) return
    if (entry.kind === 'rollout') this.#take(entry)
    if (entry.kind === 'note') this.#noted(entry)
    if (entry.kind !== 'comparison' || entry.mode !== 'diff-v2') return
    const agoMs = this.#sources.now() - Date.parse(entry.at)
    for (const run of this.#runs().values()) {
      if (run.reach.has(entry.operation)) run.remember(entry, agoMs)
    }
  }

  /** Begins what the records do not know, and ends what the rules have no more. Circuits that had turned a rollout back are open again. */
  end(): void {
    this.#isOver = true
    const runs = this.#runs()
    for (const [name, run] of runs) {
      const text = this.#goOn(name, run)
      // The fleet knows where it stands, and which circuits are open. What the records say holds only if it does not.
      if (this.#sources.isShared) run.opening = text
      else run.begin(text, BY)
    }
    for (const [name, one] of this.#known) if (!runs.has(name)) this.#endLost(name, one)
  }

  #noted({ what, operation = '', at, text, nth: numbered }: Note): void {
    const { order } = this.#sources.journal
    const nth = numbered ?? order.last()
    order.saw(nth)
    if (what === 'modes') this.#changed = Math.max(this.#changed, nth)
    if (what === 'modes' && numbered === undefined) this.#turns.clear()
    if (what !== 'circuit' && what !== 'circuit-closed') return
    if (nth < (this.#turns.get(operation)?.nth ?? 0)) return
    this.#turns.set(operation, { nth, opened: what === 'circuit' ? readOpening(text, Date.parse(at)) : undefined })
  }

  #take({ name, digest, saved: written, nth = 0, epoch }: RolloutEntry): void {
    this.#sources.journal.order.saw(nth)
    if (nth < (this.#known.get(name)?.nth ?? 0)) return
    const found = readSavedRun(written)
    const isOther = epoch !== undefined && epoch !== this.#sources.epoch
    const saved = found && isOther ? { state: found.state, counts: {}, before: {} } : found
    this.#known.set(name, { digest, nth, saved })
    const run = this.#runs().get(name)
    run?.restore(run.plan.digest === digest ? saved : undefined)
  }

  /** Lets a rollout go on where the records ended, and returns why it is where it is. */
  #goOn(name: string, run: RolloutRun): string {
    const { journal, isShared } = this.#sources
    const { digest, nth = 0, saved } = this.#known.get(name) ?? {}
    if (!saved) return 'It starts at its first step: no record mentions it.'
    if (digest !== run.plan.digest) return 'It starts at its first step: its steps, operations or clients have changed.'
    if (saved.seen) run.settle(saved.seen)
    if (isShared) return GOES_ON
    const state = run.state()
    const told = state.phase === 'turned-back' ? Object.entries(state.opened) : []
    const back = told.map(([operation, text]) => [operation, readOpening(text, state.since)] as const)
    const open = [...back.filter(([operation]) => run.reach.has(operation)), ...this.#openedSince(run, nth)]
    for (const [operation, opening] of open) journal.circuit.reopen(operation, opening)
    return GOES_ON
  }

  /** The openings of which no record of the rollout tells: the process may have died before it wrote one. */
  #openedSince(run: RolloutRun, told: number) {
    return [...this.#turns].flatMap(([operation, { nth, opened }]): readonly (readonly [string, Opening])[] =>
      opened !== undefined && nth >= told && nth >= this.#changed && run.reach.has(operation) ? [[operation, opened]] : [],
    )
  }

  #endLost(name: string, { digest, saved }: Known): void {
    const { journal, now, isShared } = this.#sources
    if (!saved || isShared) return
    journal.note({ what: 'rollout', rollout: name, text: `rollout ${name}: ${LOST}`, by: BY, from: saved.state.phase, to: 'ended' })
    journal.recorder.record({ kind: 'rollout', at: new Date(now()).toISOString(), name, digest, nth: journal.order.next() })
  }
}

const BY: Actor = { source: 'start' }

const GOES_ON = 'It goes on where the records ended.'

const LOST = 'It ends: the modes at this start have it no more. Modes that were put by a request end with the process.'

/** Returns the rollouts of the rules. One with the same steps and operations is the one that was there before. */
function runsOf({ rules }: ModeRules, before: Runs, sources: RunSources & Pick<RolloutSources, 'operations'>): Runs {
  const runs = rules.flatMap((rule, at) => {
    if (!rule.canary?.rollout) return []
    const plan = planOf(rule.canary.rollout, rule)
    const known = before.get(plan.name)
    const run = known?.plan.digest === plan.digest ? known : new RolloutRun(plan, sources)
    run.reach = new Set(operationsOf(rules, at, sources.operations))
    return [[plan.name, run] as const]
  })
  return new Map(runs)
}

/** Notes every rollout that a change of modes began, began anew or ended. */
function tellChange(before: Runs, after: Runs, by: Actor): void {
  for (const [name, run] of before) if (!after.has(name)) run.end('It ends: the modes have it no more.', by)
  for (const [name, run] of after) {
    const known = before.get(name)
    if (known === run) continue
    run.begin(known ? 'It starts again: its steps, operations or clients have changed.' : 'It starts at its first step.', by, known)
  }
}

/** Returns the rules with the shares in force in place of rollouts. */
function withShares(rules: ModeRules, runs: Runs): ModeRules {
  const inForce = rules.rules.map((rule) => {
    const run = rule.canary?.rollout && runs.get(rule.canary.rollout.name)
    if (!run || !rule.canary) return rule
    const { rollout: _, ...canary } = rule.canary
    return { ...rule, canary: { ...canary, percent: shareOf(run.plan, run.state()) } }
  })
  return { ...rules, rules: inForce }
}

/** A request of a client, as far as rollouts look at it. */
export interface SidedRequest extends Identity {
  readonly mode: Mode
  /** The round in which its mode was chosen. */
  readonly round?: number | undefined
}

interface RolloutSources extends Omit<RunSources, 'journal' | 'moved' | 'order'>, Pick<EarlierSources, 'epoch'> {
  readonly journal: Omit<RunSources['journal'], 'evidence'> & Pick<Journal, 'evidence' | 'onNote' | 'order'>
  /** Ids of all operations that v2 has. */
  readonly operations: readonly string[]
}

export type Rollouts = ReturnType<typeof createRollouts>

/** Runs the rollouts of the rules in force. */
export function createRollouts(initial: ModeRules, sources: RolloutSources) {
  let known: KnownFigures['evidence']['of'] = (operation) => knownFigure(sources.journal.evidence.of(operation))
  const journal = { ...sources.journal, evidence: { of: (operation: string) => known(operation) } }
  const listeners: (() => void)[] = []
  let runs: Runs = new Map()
  let ruleOf: RuleOf = () => undefined
  let round = 0
  const moved = () => {
    round += 1
    for (const listener of listeners) listener()
  }
  const runOf = (operation: string, client: Identity) => {
    const name = ruleOf(operation, client)?.canary?.rollout?.name
    return name === undefined ? undefined : runs.get(name)
  }
  const follow = (rules: ModeRules) => {
    runs = runsOf(rules, runs, { ...sources, journal, moved, order: journal.order })
    rollouts.areRunning = runs.size > 0
    ruleOf = createRuleOf(rules.rules)
    round += 1
  }
  const look = () => {
    for (const run of runs.values()) run.look()
  }
  const earlier = new EarlierRuns({ ...sources, journal }, () => runs)
  journal.onNote(({ what }) => what === 'circuit' && look())
  const rollouts = {
    /** True while the rules have a rollout. Otherwise nobody needs to tell of requests. */
    areRunning: false,
    all: () => Array.from(runs.values(), (run) => run.status()),
    /** Gives a command. Returns a sentence if it makes no sense. */
    steer(name: string, command: RolloutCommand, by: Actor): string | undefined {
      const run = runs.get(name)
      if (!run) return `There is no rollout ${JSON.stringify(name)}.`
      const proposal = run.command(command, by)
      if (proposal === 'same') return undefined
      if ('problem' in proposal) return proposal.problem
      run.accept(proposal)
      return undefined
    },
    /** Follows other rules. A rollout with the same steps goes on where it is. */
    change(rules: ModeRules, by: Actor) {
      const before = runs
      follow(rules)
      tellChange(before, runs, by)
    },
    /** Follows rules that another replica put in force: it has noted what begins and what ends. */
    adopt: follow,
    /** The rollout that the circuit of this operation turned back and that still waits for it; undefined if there is none. */
    keptOpenBy: (operation: string) => [...runs].find(([, run]) => run.state().phase === 'turned-back' && run.reach.has(operation))?.[0],
    /** Returns the rules with the shares in force in place of rollouts. */
    inForce: (rules: ModeRules) => withShares(rules, runs),
    /** Calls a listener whenever a share may have changed. */
    onMove: (listener: () => void): void => void listeners.push(listener),
    /** Grows whenever a share may have changed. */
    round: () => round,
    /** Looks at all of them. Call it every second; nothing depends on the exact time. */
    look,
    /** Counts a finished request of an accepted client. */
    used(request: SidedRequest, operation: string, by: Side) {
      if (request.round === round) runOf(operation, request)?.used(operation, request.caller, request.mode, by)
    },
    /** Counts a comparison of an answer that v2 gave a client. */
    compared(client: Identity, comparison: Observation) {
      runOf(comparison.operation, client)?.compared(comparison)
    },
    /** Takes an entry of earlier records. */
    entry: (entry: Entry) => earlier.entry(entry),
    /** Begins, or goes on where the records ended. */
    start() {
      earlier.end()
      // A circuit that is open again turns a rollout back before the first request.
      look()
      moved()
    },
    /** Records where they stand. */
    flush() {
      for (const run of runs.values()) run.save()
    },
    /** The rollouts themselves, by name. */
    runs: () => runs,
    /** From now on, what is known of v2's answers is what all replicas have seen. */
    know(of: KnownFigures['evidence']['of']) {
      known = of
    },
  }
  follow(initial)
  return rollouts
}
