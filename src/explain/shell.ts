import { shellQuoted } from '../tables/check.ts'
import type { Call } from '../tables/turn.ts'
import { curl } from './curl.ts'
import type { Branch, Course, PlannedCall } from './explore.ts'
import { inWords, type Marker, markersIn, markerText } from './marker.ts'
import { answerOf, EVERY, extract, FIRST, joined, type PickedValues, variableOf } from './shell-variable.ts'

/** Writes the calls of a request as lines for a shell. A call under a condition that a shell cannot check is a comment. */
export function shellLines(base: string, { calls }: Course): readonly string[] {
  const commands = calls.flatMap((planned, at) => {
    const later = calls.slice(at + 1)
    const joint = planned.decisive && later.length > 0 ? ' &&' : ''
    const wanted = wantedFrom(planned.number, later)
    const lines = wanted.length > 0 ? captured(base, planned, wanted) : [plain(base, planned, joint !== '')]
    const joined = lines.map((line, index) => (index < lines.length - 1 && planned.decisive ? `${line} &&` : line))
    joined.push(`${joined.pop()}${joint}`)
    return [...joined, ...planned.branches.flatMap((branch) => comments(base, planned.number, branch))]
  })
  return commands.flatMap((command) => command.split('\n'))
}

/** Returns the values of this call's answer that later calls need. */
function wantedFrom(number: number, later: readonly PlannedCall[]): readonly Wanted[] {
  const needed = later.flatMap(({ call, each, guard }): readonly Wanted[] => [
    ...(guard ? [{ marker: guard.member, values: FIRST }] : []),
    ...markersIn(JSON.stringify(call)).map((marker) => ({ marker, values: valuesOf(call, each, marker) })),
  ])
  return needed.filter(({ marker }) => marker.call === number)
}

interface Wanted {
  readonly marker: Marker
  /** Undefined if it is needed once for each row: the loop reads it from the answer itself. */
  readonly values: PickedValues | undefined
}

function valuesOf({ query }: Call, each: PlannedCall['each'], marker: Marker): PickedValues | undefined {
  if (each === undefined) return FIRST
  return each === 'row' ? undefined : joined(query.find(([, value]) => value === markerText(marker))?.[0] ?? '')
}

function captured(base: string, { call, number, guard }: PlannedCall, wanted: readonly Wanted[]): string[] {
  const answer = answerOf(number)
  const taken = new Map(wanted.map(({ marker, values }) => [variableOf(marker), values && extract(marker, values)]))
  const lines = [...taken].flatMap(([name, value]) => (value === undefined ? [] : [`${name}=$(${value})`]))
  return [...guardLines(guard), `${answer}=$(${curl(base, call, '-fsS', asVariable)})`, `printf '%s\\n' "$${answer}"`, ...lines]
}

function guardLines(guard: PlannedCall['guard']): string[] {
  return guard ? [condition(guard)] : []
}

/** Writes one command. A value that differs from row to row makes it a loop; a guard comes first. */
function plain(base: string, { call, guard, each }: PlannedCall, stopsOnFailure: boolean): string {
  const command = curl(base, call, stopsOnFailure ? '-sS --fail-with-body' : '-sS', asVariable)
  const [first] = markersIn(JSON.stringify(call))
  if (each === 'row' && first) return `for ${variableOf(first)} in $(${extract(first, EVERY)}); do\n  ${command}\ndone`
  if (!guard) return command
  return guard.equal ? `${condition(guard)} && ${command}` : `${condition(guard)} || ${command}`
}

function condition({ member, value }: NonNullable<PlannedCall['guard']>): string {
  return `[ "$${variableOf(member)}" = ${shellQuoted(JSON.stringify(value).slice(1, -1))} ]`
}

function comments(base: string, number: number, { when, calls }: Branch): string[] {
  return [`# when call ${number} ${when}:`, ...calls.map((call) => `#   ${curl(base, call, '-sS', inWords)}`)]
}

const asVariable = (marker: Marker) => `$${'{'}${variableOf(marker)}}`
