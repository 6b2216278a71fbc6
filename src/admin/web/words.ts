import type { Client } from '../../migrate/clients.ts'
import type { Standing } from '../../migrate/evidence/cutover.ts'
import { count, many } from '../../migrate/evidence/evidence.ts'
import { describeActor } from '../../migrate/records/record.ts'
import type { Difference, DifferenceState, ExampleReport } from '../report/difference.ts'
import type { Report, ReportFleet, ReportReplica } from '../report/report.ts'

/** Describes each standing in one word, with its meaning. */
export const STANDINGS: Readonly<Record<Standing, { readonly word: string; readonly meaning: string }>> = {
  inside: { word: 'Inside', meaning: 'At 95 %, fewer answers than the target are wrong.' },
  outside: { word: 'Outside', meaning: 'More answers than the target were wrong.' },
  'held-back': { word: 'Held back', meaning: 'Its circuit is open, or its rollout turned back. The evidence as a whole is not outside.' },
  inconclusive: { word: 'Inconclusive', meaning: 'Too little is known: never a pass.' },
  'v1-only': { word: 'v1 only', meaning: 'v2 has no counterpart: it stays with v1.' },
  unverifiable: { word: 'Unverifiable', meaning: 'A write that no read can show: no evidence is possible.' },
}

export const STATES: Readonly<Record<DifferenceState, { readonly word: string; readonly meaning: string }>> = {
  unexplained: { word: 'Unexplained', meaning: 'Nothing declares it: it counts as a mismatch.' },
  transient: { word: 'Transient', meaning: 'It was gone when v2 was asked again, and nothing explains it: it counts as wrong.' },
  failed: { word: 'Failed', meaning: 'v2 gave an error where v1 did not: it counts as wrong.' },
  open: { word: 'Open', meaning: 'The answers could not be compared: it does not count.' },
  race: { word: 'Race', meaning: 'v1 itself changed while the two were asked: it does not count.' },
  noise: { word: 'Noise', meaning: 'A member that changes by itself on v1 alone.' },
  declared: { word: 'Declared', meaning: 'A known difference, with its code.' },
}

export const KINDS: Readonly<Record<Difference['kind'], string>> = {
  status: 'The HTTP statuses differ.',
  missing: 'v1 has it, v2 does not.',
  extra: 'v2 has it, v1 does not.',
  type: 'Both have it, with another JSON type.',
  value: 'Both have it, with another value.',
  order: 'The same rows, in another order.',
  error: 'v2 failed.',
  race: 'v1 moved.',
  inconclusive: 'It could not be compared.',
}

/** Names the place of a difference. The root of an answer has no name of its own. */
export function placeOf({ where, kind }: Pick<Difference, 'where' | 'kind'>): string {
  if (where !== '') return where
  return kind === 'status' ? 'status' : 'the whole answer'
}

/** `2026-01-05 14:03:09` in UTC. The page says once that all times are UTC. */
export function time(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ')
}

/** A label for an axis: the day if the span has several, otherwise the time of day. */
export function tick(at: number, spanMs: number): string {
  const text = time(at)
  if (spanMs > 3 * 86_400_000) return text.slice(5, 10)
  return spanMs > 86_400_000 ? text.slice(5, 16) : spanMs > 600_000 ? text.slice(11, 16) : text.slice(11)
}

const UNITS: readonly (readonly [ms: number, name: string])[] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
]

/** `5 minutes`, rounded to the unit that fits. */
export function duration(ms: number): string {
  const [size, name] = UNITS.find(([unit]) => ms >= unit) ?? [1_000, 'second']
  const n = Math.round((ms / size) * 10) / 10
  return many(n, name)
}

/** `12 ms`, `1.4 s`. */
export function milliseconds(ms: number): string {
  return ms >= 1_000 ? `${(ms / 1_000).toFixed(1)} s` : `${ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`
}

/** Describes in one sentence what differs. */
export function said(kind: Difference['kind'], example: ExampleReport): string {
  const { v1Side, v2Side, around, differsAt } = example
  if (kind === 'status' || (kind === 'error' && v1Side)) return `v1 answered HTTP ${v1Side?.status ?? '?'}, v2 HTTP ${v2Side.status}.`
  if (kind === 'order') return saidOrder(example)
  if (around?.rows && (kind === 'missing' || kind === 'extra')) return saidRow(kind, around.rows)
  if (!Object.hasOwn(example, 'v1') && !Object.hasOwn(example, 'v2')) return ''
  const begin = differsAt === undefined ? '' : ` They begin to differ at character ${count(differsAt + 1)}.`
  return `v1 ${sayValue(example, 'v1')}, v2 ${sayValue(example, 'v2')}.${begin}`
}

type Rows = NonNullable<NonNullable<ExampleReport['around']>['rows']>

function saidOrder({ v1, around }: ExampleReport): string {
  const [left, right] = [around?.rows?.v1?.at, around?.rows?.v2?.at]
  const row = String(v1).startsWith('#') ? 'A row' : `Row ${String(v1)}`
  return left === undefined || right === undefined ? '' : `${row} is number ${left + 1} in v1 and number ${right + 1} in v2.`
}

function saidRow(kind: 'missing' | 'extra', { v1, v2 }: Rows): string {
  const [own, other, has, lacks] = kind === 'missing' ? ([v1, v2, 'v1', 'v2'] as const) : ([v2, v1, 'v2', 'v1'] as const)
  if (!own || !other) return ''
  return `${has} has ${own.of} rows, and number ${(own.at ?? 0) + 1} is not among the ${other.of} of ${lacks}.`
}

function sayValue(example: ExampleReport, side: 'v1' | 'v2'): string {
  if (!Object.hasOwn(example, side)) return 'leaves it out'
  const value = example[side]
  if (value === '') return 'has an empty text'
  if (Array.isArray(value)) return value.length === 0 ? 'has an empty list' : 'has a list'
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0 ? 'has an empty object' : 'has an object'
  const text = JSON.stringify(value)
  return text.length > LONG ? 'has a long text' : `has ${typeof value === 'number' ? 'the number ' : ''}${text}`
}

/** Longer texts are only shown in the JSON. */
const LONG = 60

const MASKED = /\btext-\d+-[0-9a-f]{8}\b/

/** True if the example holds texts as length and hash. */
export function isMasked({ request, v1, v2, around }: ExampleReport): boolean {
  return MASKED.test(JSON.stringify([request, v1, v2, around]))
}

/** An event of the timeline in words. */
interface NoteWords {
  /** What happened, with a verb: `Circuit opened`. */
  readonly verb: string
  readonly text: string
  /** What was in force before and after, if the event says so. */
  readonly change?: { readonly from: string; readonly to: string }
}

type Note = Report['timeline']['notes'][number]

const VERBS: Readonly<Record<Note['what'], string>> = {
  modes: 'Modes changed',
  circuit: 'Circuit opened',
  'circuit-closed': 'Circuit closed',
  restart: 'Crosswalk started',
  epoch: 'Evidence starts again',
  'store-lost': 'The store lost what it knew',
  'records-lost': 'Records were lost',
  conflict: 'One of two changes of modes is lost',
  clock: 'Clocks were compared',
  rollout: 'Rollout moved',
  ready: 'Became ready to move',
  'not-ready': 'Is no longer ready to move',
  acceptance: 'Acceptance changed',
}

/** What a rollout did, by the first word of the state that it came into. */
const ROLLOUT_MOVES: Readonly<Record<string, string>> = {
  held: 'is held',
  paused: 'paused',
  'turned-back': 'turned back',
  watching: 'took its last step',
  done: 'is done',
  aborted: 'was aborted',
  ended: 'ended',
}

/** Reasons that begin with what happened: the rest of the sentence goes on behind the verb. */
const TOLD: readonly (readonly [beginning: RegExp, verb: string])[] = [
  [/^Paused (?=by )/, 'was paused'],
  [/^Resumed (?=by )/, 'was resumed'],
  [/^Promoted (?=by )/, 'was promoted'],
  [/^Aborted (?=by )/, 'was aborted'],
  [/^It (?:starts|begins) (?=a)/, 'began'],
  [/^It goes on (?=where )/, 'goes on'],
  [/^It ends: /, 'ended:'],
]

function rolloutMoveOf(reason: string, from: string | undefined, to = ''): Pick<NoteWords, 'verb' | 'text'> {
  const told = TOLD.find(([beginning]) => beginning.test(reason))
  if (told) return { verb: told[1], text: reason.replace(told[0], '') }
  const [phase = ''] = to.split(' ')
  return { verb: ROLLOUT_MOVES[phase] ?? (from?.startsWith('running') ? 'advanced' : 'goes on'), text: reason }
}

/** Notes that show what was in force before and after. */
const CHANGES: ReadonlySet<Note['what']> = new Set(['modes', 'rollout', 'conflict'])

export function wordsOf(note: Note): NoteWords {
  const { what, from, to } = note
  const isChange = CHANGES.has(what) && from !== undefined && to !== undefined
  return { ...saidOf(note), ...(isChange && { change: { from, to } }) }
}

/** The texts of some notes begin with their actor, or with the name of the rollout. */
function saidOf({ what, text, by, from, to }: Note): Pick<NoteWords, 'verb' | 'text'> {
  const [, name, reason = ''] = what === 'rollout' ? (/^rollout ([^:]+): (.*)$/s.exec(text) ?? []) : []
  if (name !== undefined) {
    const move = rolloutMoveOf(reason, from, to)
    return { ...move, verb: `Rollout ${name} ${move.verb}` }
  }
  if (what !== 'modes' || !by) return { verb: VERBS[what], text }
  const actor = describeActor(by)
  return { verb: `${VERBS.modes} by ${actor}`, text: text.replace(`${actor}: `, '') }
}

/** Whether a client could call v2 itself. */
export const MOVES = {
  today: { word: 'Could move to v2 today', icon: 'inside', meaning: 'v2 has all that it uses, and nothing differed.' },
  mended: {
    word: 'Could move once its mismatches are fixed',
    icon: 'inconclusive',
    meaning: 'v2 has all that it uses, but some answers differed.',
  },
  never: { word: 'Needs v1', icon: 'v1-only', meaning: 'It uses something that only v1 has.' },
} as const

export function moveOf({ couldMove, mismatches }: Client): keyof typeof MOVES {
  if (!couldMove) return 'never'
  return mismatches > 0 ? 'mended' : 'today'
}

/** Says in some sentences how many clients could move. */
export function summaryOf(clients: readonly Client[]): string {
  const of = (move: keyof typeof MOVES) => clients.filter((one) => moveOf(one) === move).length
  const [today, mended, never] = [of('today'), of('mended'), of('never')]
  return [
    `${many(today, 'client')} of ${count(clients.length)} could call v2 today.`,
    ...(mended > 0 ? [`${many(mended, 'client')} met mismatches, which must be fixed first.`] : []),
    ...(never > 0 ? [`${many(never, 'client')} ${never === 1 ? 'uses' : 'use'} something that only v1 has.`] : []),
  ].join(' ')
}

/** Returns what is wrong with a replica, in a few words each. Empty if nothing is. */
export function troublesOf({ silentSeconds, behind, unread, otherServices = [], dropped, lost }: ReportReplica): readonly string[] {
  return [
    ...(silentSeconds === undefined ? [] : ['silent']),
    ...(behind > 0 ? [`${many(behind, 'version')} of the modes behind`] : []),
    ...(unread === undefined ? [] : [`another version of Crosswalk, which cannot read version ${unread} of the modes`]),
    ...otherServices.map((service) => `another upstream.${service}`),
    ...(lost > 0 ? [`${many(lost, 'wrong observation')} lost`] : []),
    ...(dropped > 0 ? [`${many(dropped, 'clean observation')} dropped`] : []),
  ]
}

/** Returns the ids of the replicas that are not well. */
export function unwellIn({ replicas, unread }: Pick<ReportFleet, 'replicas' | 'unread'>): readonly string[] {
  return [...replicas.filter((one) => troublesOf(one).length > 0), ...unread].map(({ id }) => id)
}

/** True if nothing is wrong with a fleet but what ends by itself. */
export function isOnlyBusy(fleet: ReportFleet): boolean {
  return unwellIn(fleet).length === 0 && fleet.problems.every((problem) => fleet.busy.includes(problem))
}

/** Returns what is wrong with a fleet, in sentences. What a sentence of `problems` says of a replica is not said again. */
export function sentencesOf({ problems, replicas }: ReportFleet): readonly string[] {
  const more = replicas.flatMap((one) => {
    const isNamed = problems.some((problem) => problem.startsWith(`Replica ${one.id} `))
    const { silentSeconds: _, ...heard } = one
    const troubles = troublesOf(isNamed ? { ...heard, otherServices: [], lost: 0 } : one)
    return troubles.length === 0 ? [] : [`Replica ${one.id}: ${troubles.join(', ')}.`]
  })
  return [...problems, ...more]
}

/** Returns what a reader must hear of a newer report: circuits that opened or closed, a verdict that turned, a restart. */
export function changesSaid(before: Report, after: Report): readonly string[] {
  const [old, young] = [before.now?.circuits ?? {}, after.now?.circuits ?? {}]
  const opened = Object.keys(young).filter((operation) => !(operation in old))
  const closed = Object.keys(old).filter((operation) => !(operation in young))
  // Another process made the newer report. What it did not read back is gone.
  const isOther = before.now !== undefined && after.now !== undefined && before.now.startedAt !== after.now.startedAt
  return [
    ...(isOther ? ['The proxy restarted.'] : []),
    ...opened.map((operation) => `The circuit of ${operation} opened.`),
    ...closed.map((operation) => `The circuit of ${operation} is closed again.`),
    ...fleetSaid(before, after),
    ...(before.ready === after.ready ? [] : [after.ready ? 'Ready to cut over.' : 'No longer ready to cut over.']),
  ]
}

function fleetSaid({ fleet: old }: Report, { fleet: young }: Report): readonly string[] {
  const [before, after] = [old, young].map((fleet) => (fleet ? unwellIn(fleet) : []))
  const isNew = (after ?? []).filter((id) => !before?.includes(id))
  return [
    ...isNew.map((id) => `Replica ${id} is not well.`),
    ...((after ?? []).length === 0 && (before ?? []).length > 0 ? ['All replicas are well again.'] : []),
  ]
}
