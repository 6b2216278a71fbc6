import type { ModeRules } from '../../migrate/modes/rules.ts'
import type { RolloutStatus } from '../../migrate/rollout/machine.ts'
import {
  type AdminAddress,
  askCrosswalk,
  backToV1,
  declarationText,
  type Effect,
  ignoreText,
  isDeclarable,
  nextShare,
  postRollout,
  putModes,
  withMode,
  withRollout,
  withShare,
  word,
} from './commands.ts'
import { type Difference, isOfRequest, TO_MEND } from './difference.ts'
import type { InForce } from './history.ts'
import type { OperationReport } from './report.ts'

/** Something to paste: into a shell, into the configuration file, or into `mappings/differences.ts`. */
export interface PasteText {
  /** `Raise the share to 5 %` */
  readonly title: string
  readonly text: string
  readonly into: 'shell' | 'config' | 'differences.ts'
}

/** An operation, what is in force for it, and how its proxy is reached. */
export interface CommandPlace {
  readonly operation: OperationReport
  readonly effect: Effect
  readonly now: InForce
  readonly admin: AdminAddress
}

export function raise(place: CommandPlace, percent: number): readonly PasteText[] {
  const share = nextShare(percent)
  if (share === undefined) return []
  const title = share === 100 ? 'Let v2 answer all clients' : `${percent === 0 ? 'Give v2 a share of' : 'Raise the share to'} ${share} %`
  return [put(place, title, withShare(place.now.rules, place.operation.operation, place.effect, share))]
}

export function startRollout(place: CommandPlace): PasteText {
  const title = 'Let a rollout raise the share by itself, from 1 % to 100 %'
  return put(place, title, withRollout(place.now.rules, place.operation.operation, place.effect))
}

export function compare(place: CommandPlace, mode: 'diff-v1' | 'diff-v2'): PasteText {
  return put(place, `Compare it (${mode})`, withMode(place.now.rules, place.operation.operation, place.effect, mode))
}

export function stopComparing(place: CommandPlace): PasteText {
  return put(place, 'Stop comparing it', withMode(place.now.rules, place.operation.operation, place.effect, 'v2'))
}

export function goBack(place: CommandPlace): PasteText {
  return put(place, 'Go back to v1', backToV1(place.now.rules, place.operation.operation, place.effect))
}

export function closeCircuit({ operation: { operation }, admin }: CommandPlace): PasteText {
  return { title: 'Close its circuit', text: askCrosswalk(admin, ['circuits', 'close', operation]), into: 'shell' }
}

export function steer({ admin }: CommandPlace, { name }: RolloutStatus, command: 'pause' | 'resume' | 'promote' | 'abort'): PasteText {
  const title = `${command[0]?.toUpperCase()}${command.slice(1)} the rollout ${name}`
  return { title, text: postRollout(admin, name, command), into: 'shell' }
}

export function listClients({ operation: { operation }, admin }: CommandPlace): PasteText {
  return { title: 'List its clients', text: askCrosswalk(admin, ['clients', '--operations', operation]), into: 'shell' }
}

/** Returns what leads on from the difference that occurs most: its test, and its declarations. `admin` is undefined for a file. */
export function mend({ operation, differences }: OperationReport, at: number, admin: AdminAddress | undefined): readonly PasteText[] {
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

function put({ now: { tag }, admin }: CommandPlace, title: string, rules: ModeRules): PasteText {
  return { title, text: putModes(admin, { rules, tag }), into: 'shell' }
}
