import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import pLimit from 'p-limit'
import type { Comparison, Example } from '../../../src/migrate/records/record.ts'
import { isRecord } from './mutate.ts'
import type { Received } from './stage.ts'

/** A place where two answers differ, and what the second one has there. */
export interface Place {
  /** JSON Pointer; empty for a status, `header:content-type` for a media type. A row that only the second has is at its own index. */
  readonly at: string
  /** JSON text of the second answer's value; undefined if it has none. */
  readonly value: string | undefined
}

/** Only the side that made a page token can read it, so both only have to agree on whether there is one. */
const TOKENS = new Set(['/next_page_token', '/nextPageToken'])

/** Details of an error are v2's own, which is a declared difference of every operation. It declares no other types than these. */
const DETAILS = '/details'
const DETAIL_TYPE = /^type\.googleapis\.com\/google\.rpc\.(?:ErrorInfo|BadRequest|ResourceInfo|PreconditionFailure)$/

/**
 * Returns where an answer differs from the genuine one, as a client sees it. This is an oracle: it uses nothing of what it judges, and
 * texts are equal here only if they are the same.
 */
export function placesOf(genuine: Received, other: Received): readonly Place[] {
  if (genuine.status !== other.status) return [{ at: '', value: String(other.status) }]
  const [left, right] = [parsed(genuine.text), parsed(other.text)]
  if ('unread' in right || 'unread' in left) return genuine.text === other.text ? [] : [{ at: '', value: 'not JSON' }]
  const places: Place[] = []
  if (mediaType(genuine) !== mediaType(other)) places.push({ at: 'header:content-type', value: mediaType(other) })
  walk(left.value, right.value, '', genuine.status >= 400, places)
  return places
}

function parsed(text: string): { readonly value: unknown } | { readonly unread: true } {
  try {
    return { value: text === '' ? undefined : JSON.parse(text) }
  } catch {
    return { unread: true }
  }
}

function mediaType({ type }: Received): string | undefined {
  return type?.split(';')[0]?.trim().toLowerCase()
}

function walk(left: unknown, right: unknown, at: string, isError: boolean, places: Place[]): void {
  if (isError && at === DETAILS) {
    if (!areDetails(right)) places.push({ at, value: JSON.stringify(right) })
    return
  }
  if (Array.isArray(left) && Array.isArray(right)) return void walkRows(left, right, at, places)
  if (isRecord(left) && isRecord(right)) {
    for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const inner = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
      if (Object.hasOwn(left, name) && Object.hasOwn(right, name)) walk(left[name], right[name], inner, isError, places)
      else places.push({ at: inner, value: JSON.stringify(right[name]) })
    }
    return
  }
  const equal = TOKENS.has(at) && typeof left === 'string' && typeof right === 'string' ? (left === '') === (right === '') : left === right
  if (!equal) places.push({ at, value: JSON.stringify(right) })
}

function areDetails(value: unknown): boolean {
  return Array.isArray(value) && value.every((detail) => isRecord(detail) && DETAIL_TYPE.test(String(detail['@type'])))
}

/** Pairs rows by their id, or equal rows and then the rest in turn. Rows in another order are one place: the list. */
function walkRows(left: readonly unknown[], right: readonly unknown[], at: string, places: Place[]): void {
  const hasIds = [...left, ...right].every((row) => isRecord(row) && typeof row['id'] === 'string' && row['id'] !== '')
  const nameOf = (row: unknown) => (hasIds ? String((row as Record<string, unknown>)['id']) : JSON.stringify(sorted(row)))
  const names = right.map(nameOf)
  const taken = new Set<number>()
  const partners = left.map((row) => {
    const name = nameOf(row)
    const found = names.findIndex((other, index) => other === name && !taken.has(index))
    if (found >= 0) taken.add(found)
    return found
  })
  const found = partners.filter((index) => index >= 0)
  if (found.some((index, nth) => nth > 0 && index < (found[nth - 1] as number))) places.push({ at, value: names.join() })
  const extra = right.flatMap((_, index) => (taken.has(index) ? [] : [index]))
  partners.forEach((index, nth) => {
    const partner = index >= 0 ? index : hasIds ? undefined : extra.shift()
    if (partner === undefined) places.push({ at: `${at}/${nth}`, value: undefined })
    else walk(left[nth], right[partner], `${at}/${nth}`, false, places)
  })
  for (const index of extra) places.push({ at: `${at}/${index}`, value: JSON.stringify(right[index]) })
}

/** The same value with the members of objects in the order of their names, which has no meaning in JSON. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isRecord(value)) return value
  const names = Object.keys(value).sort()
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]))
}

/** What Crosswalk made of one spoiled answer. */
export type Verdict =
  /** A visible one was found, in its operation and at its place. */
  | { readonly is: 'found' }
  /** Nobody could see it, and it was not flagged. */
  | { readonly is: 'silent' }
  /** Missed, found elsewhere, or flagged though nobody could see it. */
  | { readonly is: 'missed' | 'misplaced' | 'flagged'; readonly reason: string }

/** Outcomes that count against v2. */
export const AGAINST: ReadonlySet<string> = new Set(['mismatch', 'error', 'transient'])

/** Judges what was recorded of one caller, who sent one request to an operation, by the places where its answer was visibly spoiled. */
export function verdictOf(operation: string, places: readonly Place[], recorded: readonly Comparison[]): Verdict {
  const against = recorded.find(({ outcome }) => AGAINST.has(outcome))
  if (recorded.length === 0) return { is: 'missed', reason: 'not compared' }
  if (places.length === 0) return against ? { is: 'flagged', reason: describe(against) } : { is: 'silent' }
  if (!against) return { is: 'missed', reason: recorded.map(describe).join('; ') }
  const right = against.operation === operation && isAt(against, places)
  return right
    ? { is: 'found' }
    : { is: 'misplaced', reason: `${against.operation}: ${describe(against)}, seen at ${listed(places.map(({ at }) => at))}` }
}

/** Tells whether every difference without an explanation is at a place that the oracle saw, or around or inside one. */
function isAt(comparison: Comparison, places: readonly Place[]): boolean {
  if (comparison.outcome === 'error') return comparison.v1?.status !== comparison.v2.status && places.some(({ at }) => at === '')
  const unexplained = unexplainedOf(comparison)
  return unexplained.length > 0 && unexplained.every((example) => places.some(({ at }) => isNear(at, example.at)))
}

function unexplainedOf({ examples }: Comparison): readonly Example[] {
  return examples.filter(({ code, noise }) => code === undefined && !noise)
}

function isNear(one: string, other: string): boolean {
  if (one === other) return true
  // The answer as a whole encloses everything, which would place nothing.
  const [outer, inner] = one.length < other.length ? [one, other] : [other, one]
  return outer !== '' && inner.startsWith(`${outer}/`)
}

/** Describes a comparison for people. */
export function describe({ outcome, reason, examples, v1, v2 }: Comparison): string {
  const codes = [...new Set(examples.flatMap(({ code, noise }) => code ?? (noise ? 'noise' : [])))]
  const at = examples.filter(({ code }) => code === undefined).map((example) => `${example.kind} ${example.at}`)
  const parts = [...codes, ...(reason === undefined ? [] : [reason]), ...at, `${v1?.status ?? 'not asked'}×${v2.status}`]
  return `${outcome} (${listed(parts)})`
}

function listed(parts: readonly string[]): string {
  return parts.length > 4 ? `${parts.slice(0, 4).join(', ')} and ${parts.length - 4} more` : parts.join(', ')
}

/**
 * Returns where a client sees that v2 is spoiled: where the answer differs from genuine v1, except for differences that are there without
 * any spoiling. None means that nobody could see it. `calm` and `spoiled` are answers of Crosswalk without v1, over v2 as it is and spoiled.
 */
export function visiblePlaces(genuine: Received, calm: Received, spoiled: Received): readonly Place[] {
  const usual = new Set(placesOf(genuine, calm).map(keyOf))
  return placesOf(genuine, spoiled).filter((place) => !usual.has(keyOf(place)))
}

function keyOf({ at, value }: Place): string {
  return `${at} ${value}`
}

/**
 * Runs this program once for each slice, as often at the same time as there are cores. `say` gets what each printed, when it has ended.
 * `seconds` are for a sample of all together. Returns the number of those that failed.
 */
export async function runApart(
  slices: readonly string[],
  seed: number,
  seconds: number | undefined,
  say: (text: string) => void,
): Promise<number> {
  const cores = Math.min(availableParallelism(), slices.length)
  const limit = pLimit(cores)
  const share = seconds === undefined ? [] : ['--seconds', String((seconds * cores) / slices.length)]
  const run = (slice: string) =>
    new Promise<number>((resolve) => {
      const options = { env: { ...process.env, CROSSWALK_SEED: String(seed) }, maxBuffer: 2 ** 28 }
      execFile(process.execPath, [process.argv[1] ?? '', slice, ...share], options, (error, out, problem) => {
        say(`${out}${problem}`)
        resolve(error ? 1 : 0)
      })
    })
  const failed = await Promise.all(slices.map((slice) => limit(() => run(slice))))
  return failed.reduce((sum, one) => sum + one, 0)
}

/** What was tried in one way: a mode, a dialect, always or once. */
export interface Tally {
  readonly name: string
  /** The share of visible ones that must be found, 0–1. */
  readonly bound: number
  /** Cases that there are, if only a sample of them is tried. */
  readonly all: number | undefined
  /** Invisible ones that may be flagged. */
  readonly mayFlag: number
  found: number
  silent: number
  /** Other spellings of the same value, which are not scored. */
  respelled: number
  /** Sentences: what was missed, found elsewhere, or flagged though nobody could see it. */
  readonly missed: string[]
  readonly misplaced: string[]
  readonly flagged: string[]
  /** What could not be scored, and why. */
  readonly notes: string[]
}

export function createTally(name: string, bound: number, all?: number): Tally {
  return { name, bound, all, mayFlag: 0, found: 0, silent: 0, respelled: 0, missed: [], misplaced: [], flagged: [], notes: [] }
}

/** Counts a verdict; `what` describes the case. */
export function count(tally: Tally, verdict: Verdict, what: string): void {
  if (verdict.is === 'found' || verdict.is === 'silent') tally[verdict.is] += 1
  else tally[verdict.is].push(`${what}: ${verdict.reason}`)
}

/** Counts a trial by what went wrong in it; undefined if nothing did. */
export function score(tally: Tally, wrong: string | undefined): void {
  if (wrong === undefined) tally.found += 1
  else tally.missed.push(wrong)
}

/**
 * Tells whether enough was found, all of it in its place, and nothing else was flagged. A sample may miss more by three standard errors,
 * because it may hold more of the few that are missed.
 */
export function holds(tally: Tally): boolean {
  const { bound, all, found, misplaced, flagged, mayFlag } = tally
  const visible = visibleIn(tally)
  const allowed = (1 - bound) * visible
  const chance = all === undefined || triedIn(tally) === all ? 0 : 3 * Math.sqrt(allowed)
  return visible - found <= allowed + chance && misplaced.length === 0 && flagged.length <= mayFlag
}

/** Returns one line with the figures, and one for each case that went wrong. */
export function linesOf(tally: Tally): readonly string[] {
  const { name, bound, all, found, silent, respelled, missed, misplaced, flagged, notes } = tally
  const visible = visibleIn(tally)
  const share = visible === 0 ? '' : `found ${found} of ${visible} = ${percent(found / visible)} (at least ${percent(bound)}), `
  const unscored = respelled === 0 ? '' : `, ${respelled} respelled not scored`
  const rest = `${misplaced.length} found elsewhere, ${flagged.length} of ${silent + flagged.length} invisible ones flagged${unscored}`
  return [
    `${holds(tally) ? 'ok  ' : 'FAIL'} ${name}: ${share}${rest}; ${triedIn(tally)}${all === undefined ? '' : ` of ${all}`} cases`,
    ...missed.map((what) => `     missed     ${what}`),
    ...misplaced.map((what) => `     elsewhere  ${what}`),
    ...flagged.map((what) => `     flagged    ${what}`),
    ...notes.map((what) => `     note       ${what}`),
  ]
}

function triedIn(tally: Tally): number {
  return visibleIn(tally) + tally.silent + tally.flagged.length + tally.respelled
}

function visibleIn({ found, missed, misplaced }: Tally): number {
  return found + missed.length + misplaced.length
}

function percent(share: number): string {
  return `${(Math.floor(share * 100_000) / 1000).toString()} %`
}

export interface SliceOptions {
  /** Chooses the places that are spoiled, and the cases of a sample. */
  readonly seed: number
  /** Milliseconds for a sample of the cases; all cases without it. */
  readonly ms?: number | undefined
  /** Only the cases whose name it matches; all without it. */
  readonly only?: RegExp | undefined
}

/** A part of the score that runs by itself. */
export interface Slice {
  readonly name: string
  /** What it tries, for `--help`. */
  readonly tries: string
  /** Its cases have names, by which some can be chosen. An example of a choice. */
  readonly only?: string
  readonly run: (options: SliceOptions) => Promise<readonly Tally[]>
}
