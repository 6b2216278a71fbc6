import { count, many, percent } from '../../migrate/evidence/evidence.ts'
import { timeNeeded, uncomparedSentences } from '../../migrate/evidence/standing.ts'
import type { ModeRules } from '../../migrate/modes/rules.ts'
import type { RolloutStatus } from '../../migrate/rollout/machine.ts'
import { COMPARING, SERVED_BY } from '../../serve/sides.ts'
import {
  type AdminAddress,
  askCrosswalk,
  backToV1,
  compared,
  declarationText,
  type Effect,
  effectOn,
  forMost,
  ignoreText,
  isDeclarable,
  modeForMost,
  nextShare,
  postRollout,
  putModes,
  withComparison,
  withMode,
  withRollout,
  withShare,
  word,
} from './commands.ts'
import { type Difference, isOfRequest, TO_MEND } from './difference.ts'
import type { InForce } from './history.ts'
import type { OperationReport, Report } from './report.ts'

/** Something to paste: into a shell, into the configuration file, or into `mappings/differences.ts`. */
export interface PasteText {
  /** `Raise the share to 5 %` */
  readonly title: string
  readonly text: string
  readonly into: 'shell' | 'config' | 'differences.ts'
}

/** What to do next about one operation: a sentence, and what to paste for it. The first is what most want. */
interface NextStep {
  readonly sentence: string
  readonly commands: readonly PasteText[]
}

/** Where an operation stands, what is in force for it, and how its proxy is reached. */
interface Situation {
  readonly operation: OperationReport
  readonly effect: Effect
  readonly now: InForce
  readonly admin: AdminAddress
  readonly target: number
  readonly at: number
}

/** Returns what to do next about an operation. A report of record files cannot change modes, so that it leads to differences alone. */
export function nextStep(operation: OperationReport, { now, target: general, generatedAt: at }: Report, admin: AdminAddress): NextStep {
  if (!now) return { sentence: inFile(operation), commands: mend({ operation, at }) }
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
    return { sentence, commands: [asked(situation, 'List its clients', ['clients', '--operations', operation.operation])] }
  }
  const rollout = forMost(effect).share?.rollout
  if (rollout) return duringRollout(situation, rollout)
  if (effect.circuit !== undefined) {
    const sentence =
      'Its circuit is open, so no canary gives v2 a share. See what differs, fix v2 or declare it, and then close the circuit.'
    const close = asked(situation, 'Close its circuit', ['circuits', 'close', operation.operation])
    return { sentence, commands: [...mend(situation), close, ...back(situation)] }
  }
  if (operation.standing === 'outside') {
    const { n, bad, share } = operation
    const wrong = `${count(bad)} of ${many(n, 'observation')} and ${percent(share)} of the requests were wrong.`
    const sentence = `${wrong} Fix v2 or declare the difference before more clients move.`
    return { sentence, commands: [...mend(situation), ...back(situation)] }
  }
  if (operation.standing === 'held-back') {
    const sentence = 'Something other than its own answers holds it back. See why, and continue when that has ended.'
    return { sentence, commands: [...mend(situation), ...back(situation)] }
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
  const steer = (command: 'pause' | 'resume' | 'promote' | 'abort'): PasteText => {
    const title = `${command[0]?.toUpperCase()}${command.slice(1)} the rollout ${name}`
    return { title, text: postRollout(situation.admin, name, command), into: 'shell' }
  }
  const moves: Readonly<Record<RolloutStatus['phase'], readonly PasteText[]>> = {
    waiting: [],
    running: [steer('pause'), steer('abort')],
    held: [steer('promote'), steer('pause'), steer('abort')],
    paused: [steer('resume'), steer('promote'), steer('abort')],
    'turned-back': [...mend(situation), steer('resume'), steer('abort')],
    watching: [steer('pause'), steer('abort')],
    done: [stopComparing(situation), steer('abort')],
    aborted: [...mend(situation), ...back(situation)],
  }
  return { sentence: `The rollout ${name} ${WORDS[phase]} ${reason}`, commands: moves[phase] }
}

function whileInconclusive(situation: Situation): NextStep {
  const { operation, effect, target, now } = situation
  const modes = effect.rules.flatMap(({ mode, share }) => [mode, share?.mode ?? mode])
  if (!modes.some((mode) => COMPARING.has(mode))) {
    const title = `Compare it (${compared(modeForMost(effect))})`
    return {
      sentence: 'Nothing compares it. Put it into a diff mode.',
      commands: [put(situation, title, withComparison(now.rules, operation.operation, effect))],
    }
  }
  const [hint = ''] = uncomparedSentences(operation.uncompared)
  const wait = `Wait for ${many(operation.needed ?? 0, 'more observation')}, ${timeNeeded(operation, target)}.`
  return { sentence: `${wait} ${hint}`.trim(), commands: [...mend(situation), ...back(situation)] }
}

function forward(situation: Situation): NextStep {
  const { operation, effect, now } = situation
  const [mode, { share }] = [modeForMost(effect), forMost(effect)]
  const isWhole = !effect.rules.some(leavesToV1)
  const whom = isWhole ? 'all its clients' : 'all its clients but those that a rule leaves to v1'
  const known =
    operation.standing === 'unverifiable' ? 'No read can show what it writes, so the errors of v2 decide.' : 'It is inside the target.'
  if (mode === 'v2') {
    const rest = isWhole ? 'There is nothing to do.' : 'Move these before v1 goes.'
    return { sentence: `v2 answers ${whom}. ${rest}`, commands: back(situation) }
  }
  if (mode === 'diff-v2') {
    const sentence = `${known} v2 answers ${whom}, and v1 is still asked. Stop that when v1 goes.`
    return { sentence, commands: [stopComparing(situation), ...back(situation)] }
  }
  const reached = share && SERVED_BY[share.mode] === 'v2' ? share.percent : 0
  const sentence = reached === 0 ? `${known} Give v2 a first share of its clients.` : `${known} Raise the share.`
  const title = 'Let a rollout raise the share by itself, from 1 % to 100 %'
  const rollout = reached === 0 ? [put(situation, title, withRollout(now.rules, operation.operation, effect))] : []
  return { sentence, commands: [...raise(situation, reached), ...rollout, ...back(situation)] }
}

function raise(situation: Situation, reached: number): readonly PasteText[] {
  const { operation, effect, now } = situation
  const share = nextShare(reached)
  if (share === undefined) return []
  const title = share === 100 ? 'Let v2 answer all clients' : `${reached === 0 ? 'Give v2 a share of' : 'Raise the share to'} ${share} %`
  return [put(situation, title, withShare(now.rules, operation.operation, effect, share))]
}

function stopComparing(situation: Situation): PasteText {
  const { operation, effect, now } = situation
  return put(situation, 'Stop comparing it', withMode(now.rules, operation.operation, effect, 'v2'))
}

/** The way back, if v2 answers some clients. */
function back(situation: Situation): readonly PasteText[] {
  const { operation, effect, now } = situation
  return isServedByV2(effect) ? [put(situation, 'Go back to v1', backToV1(now.rules, operation.operation, effect))] : []
}

function put({ now: { tag }, admin }: Situation, title: string, rules: ModeRules): PasteText {
  return { title, text: putModes(admin, { rules, tag }), into: 'shell' }
}

function asked({ admin }: Situation, title: string, words: readonly string[]): PasteText {
  return { title, text: askCrosswalk(admin, words), into: 'shell' }
}

function leavesToV1({ mode, share }: Effect['rules'][number]): boolean {
  const isAll = share?.percent === 100
  return (SERVED_BY[mode] === 'v1' && !isAll) || (share !== undefined && SERVED_BY[share.mode] === 'v1' && share.percent > 0)
}

export function isServedByV2({ rules }: Effect): boolean {
  return rules.some(
    ({ mode, share }) => SERVED_BY[mode] === 'v2' || (share !== undefined && SERVED_BY[share.mode] === 'v2' && share.wanted > 0),
  )
}

/** Returns what leads on from the difference that occurs most: its test, and its declarations. A file has no `admin`. */
function mend({ operation: { operation, differences }, at, admin }: Pick<Situation, 'operation' | 'at'> & Partial<Situation>) {
  const worst = differences.find(({ state }) => TO_MEND.has(state))
  return worst ? [...openCase(worst, admin), ...explainRequest(worst), ...(isDeclarable(worst) ? declare(operation, worst, at) : [])] : []
}

export function declare(operation: string, difference: Difference, at: number): readonly PasteText[] {
  const forNow: PasteText = { title: 'Accept it until a date: crosswalk.json', text: ignoreText(operation, difference, at), into: 'config' }
  if (!difference.examples.every(isOfRequest)) return [{ ...forNow, title: 'Accept it until a date, in the settings' }]
  const text = declarationText(operation, difference)
  return [forNow, { title: 'Declare it for good: mappings/differences.ts', text, into: 'differences.ts' }]
}

/** Only mismatches that stay can be played again. */
function openCase({ state, examples: [example] }: Difference, admin: AdminAddress | undefined): readonly PasteText[] {
  if (!example || state !== 'unexplained' || !isOfRequest(example)) return []
  const words = ['case', example.id]
  const text = admin ? askCrosswalk(admin, words) : `crosswalk ${words.join(' ')} --records FILE`
  return [{ title: 'Print an example as a test', text, into: 'shell' }]
}

/** A request that was cut when it was recorded cannot be explained. */
function explainRequest({ examples: [example] }: Difference): readonly PasteText[] {
  const request = example?.request
  if (!request || !isOfRequest({ request }) || request.url.endsWith('…')) return []
  const text = `crosswalk explain ${word(`${request.method} ${request.url}`)}`
  return [{ title: 'Print the v2 calls of its request', text, into: 'shell' }]
}
