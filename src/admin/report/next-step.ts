import { many, wrongOf } from '../../migrate/evidence/evidence.ts'
import { timeNeeded, uncomparedSentences } from '../../migrate/evidence/standing.ts'
import type { RolloutStatus } from '../../migrate/rollout/machine.ts'
import { COMPARING, SERVED_BY } from '../../serve/sides.ts'
import * as commands from './command-texts.ts'
import { type AdminAddress, type Effect, effectOn, forMost } from './commands.ts'
import { TO_MEND } from './difference.ts'
import type { OperationReport, Report } from './report.ts'

/** What to do next about one operation: a sentence, and what to paste for it. The first is what most want. */
export interface NextStep {
  readonly sentence: string
  readonly commands: readonly commands.PasteText[]
}

/** Where the operation stands, and what its commands need. */
interface Situation extends commands.CommandPlace {
  readonly target: number
  readonly at: number
}

/** Returns what to do next about an operation. A report of record files cannot change modes, so that it leads to differences alone. */
export function nextStep(operation: OperationReport, { now, target: general, generatedAt: at }: Report, admin: AdminAddress): NextStep {
  if (!now) return { sentence: inFile(operation), commands: commands.mend(operation, at, undefined) }
  const effect = effectOn(operation.operation, now)
  const target = operation.target ?? general
  return stepOf({ operation, effect, now, admin, target, at })
}

function inFile({ standing, differences }: OperationReport): string {
  const open = differences.filter(({ state }) => TO_MEND.has(state)).length
  if (open > 0) return `Fix or declare ${many(open, 'difference')}.`
  return standing === 'inside' ? 'Raise its share.' : 'Keep comparing it.'
}

function stepOf(situation: Situation): NextStep {
  const { operation, effect, now } = situation
  if (!now.hasV1) return { sentence: 'v2 answers it, and there is no v1 service to compare with or to go back to.', commands: [] }
  if (operation.standing === 'v1-only') {
    const sentence = 'v2 has no counterpart, so v1 must answer it. Its clients have to stop using it before v1 is switched off.'
    return { sentence, commands: [commands.listClients(situation)] }
  }
  const rollout = forMost(effect).share?.rollout
  if (rollout) return duringRollout(situation, rollout)
  if (effect.circuit !== undefined) {
    const sentence =
      'Its circuit is open, so no canary gives v2 a share. See what differs, fix v2 or declare it, and then close the circuit.'
    return { sentence, commands: [...mended(situation), commands.closeCircuit(situation), ...back(situation)] }
  }
  if (operation.standing === 'outside') {
    const sentence = `${many(wrongOf(operation), 'answer')} of ${many(operation.n, 'observation')} ${wrongOf(operation) === 1 ? 'was' : 'were'} wrong. Fix v2 or declare the difference before more clients move.`
    return { sentence, commands: [...mended(situation), ...back(situation)] }
  }
  if (operation.standing === 'held-back') {
    const sentence = 'Something other than its own answers holds it back. See why, and continue when that has ended.'
    return { sentence, commands: [...mended(situation), ...back(situation)] }
  }
  if (operation.standing === 'inconclusive') return whileInconclusive(situation)
  return forward(situation)
}

const WORDS: Readonly<Record<RolloutStatus['phase'], string>> = {
  waiting: 'waits for the store, so v2 gets no share here. There is nothing to do.',
  running: 'raises the share by itself, and goes back if v2 fails. There is nothing to do.',
  held: 'waits for traffic.',
  paused: 'is paused. Find out why, then resume it.',
  'turned-back': 'has turned back, so v2 gets no share. Fix v2 or declare the difference, then resume it from its first step.',
  watching: 'has reached all clients, and is still judged. There is nothing to do.',
  done: 'is done: v2 answers its clients.',
  aborted: 'is aborted, so v2 gets no share. Another rollout needs another name.',
}

function duringRollout(situation: Situation, rollout: RolloutStatus): NextStep {
  const { phase, name, reason } = rollout
  const steer = (command: 'pause' | 'resume' | 'promote' | 'abort') => commands.steer(situation, rollout, command)
  const moves: Readonly<Record<RolloutStatus['phase'], readonly commands.PasteText[]>> = {
    waiting: [],
    running: [steer('pause'), steer('abort')],
    held: [steer('promote'), steer('pause'), steer('abort')],
    paused: [steer('resume'), steer('promote'), steer('abort')],
    'turned-back': [...mended(situation), steer('resume'), steer('abort')],
    watching: [steer('pause'), steer('abort')],
    done: [commands.stopComparing(situation), steer('abort')],
    aborted: [...mended(situation), ...back(situation)],
  }
  return { sentence: `The rollout ${name} ${WORDS[phase]} ${reason}`, commands: moves[phase] }
}

function whileInconclusive(situation: Situation): NextStep {
  const { operation, effect, target } = situation
  const modes = effect.rules.flatMap(({ mode, share }) => [mode, share?.mode ?? mode])
  if (!modes.some((mode) => COMPARING.has(mode))) {
    const mode = SERVED_BY[forMost(effect).mode] === 'v1' ? 'diff-v1' : 'diff-v2'
    return { sentence: 'Nothing compares it. Put it into a diff mode.', commands: [commands.compare(situation, mode)] }
  }
  const [hint = ''] = uncomparedSentences(operation.uncompared)
  const wait = `Wait for ${many(operation.needed ?? 0, 'more observation')}, ${timeNeeded(operation, target)}.`
  return { sentence: `${wait} ${hint}`.trim(), commands: [...mended(situation), ...back(situation)] }
}

function forward(situation: Situation): NextStep {
  const { operation, effect } = situation
  const { mode, share } = forMost(effect)
  const known =
    operation.standing === 'unverifiable' ? 'No read can show what it writes, so the errors of v2 decide.' : 'It is inside the target.'
  if (mode === 'v2') return { sentence: 'v2 answers all its clients. There is nothing to do.', commands: back(situation) }
  if (mode === 'diff-v2') {
    const sentence = `${known} v2 answers all its clients, and v1 is still asked. Stop that when v1 goes.`
    return { sentence, commands: [commands.stopComparing(situation), ...back(situation)] }
  }
  const percent = share && SERVED_BY[share.mode] === 'v2' ? share.percent : 0
  const sentence = percent === 0 ? `${known} Give v2 a first share of its clients.` : `${known} Raise the share.`
  const rollout = percent === 0 ? [commands.startRollout(situation)] : []
  return { sentence, commands: [...commands.raise(situation, percent), ...rollout, ...back(situation)] }
}

/** Ways on from the difference that occurs most. */
function mended({ operation, at, admin }: Situation): readonly commands.PasteText[] {
  return commands.mend(operation, at, admin)
}

/** The way back, if v2 answers some clients. */
function back(situation: Situation): readonly commands.PasteText[] {
  return isServedByV2(situation.effect) ? [commands.goBack(situation)] : []
}

export function isServedByV2({ rules }: Effect): boolean {
  return rules.some(
    ({ mode, share }) => SERVED_BY[mode] === 'v2' || (share !== undefined && SERVED_BY[share.mode] === 'v2' && share.wanted > 0),
  )
}
