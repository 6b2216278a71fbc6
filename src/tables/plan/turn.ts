import type { Call, Outcome, Plan, Reply, Step } from './plan.ts'

/** Calls that an operation waits for. `next` throws the ApiError that the request ends with. */
export interface AskTurn extends Extract<Step, { kind: 'ask' }> {
  readonly next: (outcomes: readonly Outcome[]) => Turn
  /** The turn holds nothing but data: it may be taken again, for another caller. */
  readonly again?: true
}

/** Finished v1 rows, and how the operation goes on. */
export interface RowsTurn extends Extract<Step, { kind: 'rows' }> {
  readonly next: () => Turn
}

/** Where an operation stands: it waits for calls, it has rows to send on, or it has its reply. */
export type Turn = AskTurn | RowsTurn | { readonly kind: 'reply'; readonly reply: Reply }

/** The last turn. */
export function replied(reply: Reply): Turn {
  return { kind: 'reply', reply }
}

/**
 * A turn of one call.
 *
 *     asked({ method: 'GET', path: '/iam/v2/roles', query: [] }, (outcome) => replied(ok(bodyOf(outcome, role))))
 *
 * @param next makes the next turn from the call's outcome and nothing else, so that the turn may be taken again
 */
export function asked(call: Call, next: (outcome: Outcome) => Turn): AskTurn {
  return { kind: 'ask', calls: [call], next: (outcomes) => next(outcomes[0] as Outcome), again: true }
}

/** A plan from its first step on. It can be taken once: a generator keeps its own place. */
export function turnOf(plan: Plan): Turn {
  const next = (outcomes: readonly Outcome[]): Turn => {
    const step = plan.next(outcomes)
    return step.done ? replied(step.value) : { ...step.value, next: next as () => Turn }
  }
  return next([])
}

/** Makes the calls of a turn and tells their outcomes, in order and perhaps at once; or it fails the request. */
export type Make = (turn: AskTurn, tell: (outcomes: readonly Outcome[]) => void, fail: (thrown: unknown) => void) => void

/** Takes what an operation comes to. */
export interface Taker {
  /** Whether the run goes on at once; if not, `turn.next` goes on later. */
  rows(turn: RowsTurn): boolean
  ended(reply: Reply): void
  failed(thrown: unknown): void
}

/** Runs an operation from a turn on: the one driver of serving, explaining, comparing and counting. Never throws what a turn throws. */
export function run(begin: () => Turn, make: Make, taker: Taker): void {
  let next: (() => Turn) | undefined = begin
  while (next) next = step(next, make, taker)
}

/** Takes one turn; returns how the run goes on now. */
function step(next: () => Turn, make: Make, taker: Taker): (() => Turn) | undefined {
  let turn: Turn
  try {
    turn = next()
  } catch (thrown) {
    taker.failed(thrown)
    return undefined
  }
  if (turn.kind === 'ask') return ask(turn, make, taker)
  if (turn.kind === 'rows') return taker.rows(turn) ? turn.next : undefined
  taker.ended(turn.reply)
  return undefined
}

/** Calls that are answered at once go on in the loop of `run`, so that a long list does not grow the stack. Others go on when they are. */
function ask(turn: AskTurn, make: Make, taker: Taker): (() => Turn) | undefined {
  let goOn: (() => Turn) | undefined
  let isLate = false
  const tell = (outcomes: readonly Outcome[]) => {
    const next = () => turn.next(outcomes)
    if (isLate) run(next, make, taker)
    else goOn = next
  }
  make(turn, tell, (thrown) => taker.failed(thrown))
  isLate = true
  return goOn
}
