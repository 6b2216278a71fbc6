import { LRUCache } from 'lru-cache'
import { member } from '../../tables/compile.ts'
import { instant } from '../../tables/fields.ts'
import { isObject } from '../../tables/json.ts'
import type { Operation, V1Request } from '../../tables/operation.ts'
import { spellings } from '../../tables/query.ts'
import { cleanNeeded, count, many, type OperationEvidence, percent, type Sample, upperBound } from './evidence.ts'
import { isWrongKind } from './kinds.ts'

/** Why a request in a diff mode was not compared, or why its comparison has no result. */
export type Uncompared = keyof typeof UNCOMPARED

/** Numbers of requests by reason. Reasons without any are left out. */
export type UncomparedCounts = Partial<Readonly<Record<Uncompared, number>>>

/**
 * The account of such a request. `coin`: it was left out before anything was known of v2. `unknown`: v1 or the client left nothing to compare;
 * beyond a small share of the uses the verdict is inconclusive. `alone`: only v2's own answer left nothing to compare, so that the verdict is
 * READY only if it would be with all of them wrong. `stranger`: no side accepted it. `write`: the verdict on writes judges it. `none`: a fact
 * about requests that have another account.
 */
type Account = 'coin' | 'unknown' | 'alone' | 'stranger' | 'write' | 'none'

interface Meaning {
  readonly account: Account
  /** Completes "N requests …". */
  readonly because: string
  /** What to change, if anything helps. */
  readonly change?: string
}

/** Says of each reason what it means and what to change. */
export const UNCOMPARED = {
  answerBytes: { account: 'unknown', because: 'had an answer larger than diff.answerBytes', change: 'raise diff.answerBytes' },
  v2Bytes: { account: 'alone', because: 'had an answer larger than diff.answerBytes of v2 alone', change: 'raise diff.answerBytes' },
  bodyBytes: {
    account: 'alone',
    because: 'had a body larger than limits.requestBytes, which v1 alone takes',
    change: 'raise limits.requestBytes',
  },
  bodyLength: {
    account: 'unknown',
    because: 'had a body of unknown length, which went to v1 unread',
    change: 'give a share in diff-v2',
  },
  uncarried: {
    account: 'unknown',
    because: 'came over gRPC with what REST cannot carry',
    change: 'accept the operation by its name (cutover.operations)',
  },
  manyPlaces: { account: 'alone', because: 'had answers that differ in too many places to compare all', change: 'look at the records' },
  perSecond: { account: 'coin', because: 'came when diff.perSecond was spent', change: 'raise diff.perSecond' },
  waiting: {
    account: 'coin',
    because: 'found no room among the waiting comparisons',
    change: 'raise diff.waiting, diff.waitingBytes or diff.parallel',
  },
  heldBytes: { account: 'alone', because: 'got an answer of v2 that found no room', change: 'raise diff.waitingBytes' },
  pageToken: { account: 'coin', because: 'continued a list of which the page before was not compared' },
  gone: { account: 'unknown', because: 'lost the client before the answer was whole' },
  unreadable: { account: 'write', because: 'wrote what no read shows' },
  writeRefused: {
    account: 'alone',
    because: 'wrote and were refused by v2, and v1 is not known to refuse the same',
    change: "give diff-v1 a share, so that v1's own refusals are known",
  },
  untried: { account: 'none', because: 'wrote to v1 alone', change: 'give a share in diff-v2' },
  undecided: { account: 'none', because: 'wrote to v2, and nothing was learnt of what v2 did' },
  unverified: { account: 'write', because: 'wrote, and diff.verifyWrites is off', change: 'switch diff.verifyWrites on' },
  uncopied: { account: 'unknown', because: 'had arguments that cannot be copied', change: 'give the option copy' },
  malformed: { account: 'unknown', because: 'could not be read by the tables' },
  earlier: { account: 'coin', because: 'were answered before the modes changed or another epoch began' },
  failed: { account: 'unknown', because: 'met a defect of Crosswalk', change: 'look at the log' },
  repeat: { account: 'coin', because: 'repeated what was compared in the last ten minutes' },
  v1Failed: { account: 'unknown', because: 'got an error of v1 itself', change: 'look at v1' },
  refused: { account: 'stranger', because: 'were accepted by no side', change: 'look at the rights of the callers' },
  v1Refused: { account: 'unknown', because: 'got a 401 or 403 of v1 and a success of v2', change: 'look at the rights of the callers' },
  other: { account: 'unknown', because: 'had answers that cannot be compared', change: 'look at the records' },
} as const satisfies Readonly<Record<string, Meaning>>

/** Returns one sentence for each reason, most requests first: `12 requests had an answer larger than diff.answerBytes: raise diff.answerBytes.` */
export function uncomparedSentences(counts: UncomparedCounts, isMeant: (account: Account) => boolean = () => true): readonly string[] {
  const entries = Object.entries(counts) as [Uncompared, number][]
  const known = entries.filter(([why, requests]) => requests > 0 && why in UNCOMPARED && isMeant(UNCOMPARED[why].account))
  return known
    .sort(([, a], [, b]) => b - a)
    .map(([why, requests]) => {
      const { because, change }: Meaning = UNCOMPARED[why]
      return `${many(requests, 'request')} ${because}${change === undefined ? '' : `: ${change}`}.`
    })
}

/**
 * Returns the shape of a request: its operation, and each parameter's name with the class of its value, but no value.
 * The tables handle all requests of one shape alike, so thousands of them prove no more than one.
 * `registry.tags.list?exclude_dates=flag&uidp.children_of=child`
 */
export function shapeOf(operation: Operation, request: V1Request): string {
  const parts = [...pathParts(request), ...queryParts(operation, request), ...bodyParts(operation, request)].sort()
  return parts.length === 0 ? operation.id : `${operation.id}?${parts.join('&')}`
}

/** The reads whose shapes are kept, and the longest URL of one. */
const KEPT = 1000
const LONGEST = 500

/** A read as it was received. */
interface ReceivedRead {
  readonly url: string
  readonly body?: Buffer | undefined
}

/**
 * Returns `shapeOf` for reads that clients repeat: the shape is kept by the URL, because it costs as much as what asks for it. A request is
 * only read if its shape is not known. Throws what `read` throws.
 */
export function createReadShapes(): (operation: Operation, read: () => V1Request, received: ReceivedRead) => string {
  const shapes = new LRUCache<string, string>({ max: KEPT })
  return (operation, read, { url, body }) => {
    if (body !== undefined || url.length > LONGEST) return shapeOf(operation, read())
    const key = `${operation.id} ${url}`
    const known = shapes.get(key)
    if (known !== undefined) return known
    const shape = shapeOf(operation, read())
    shapes.set(key, shape)
    return shape
  }
}

function pathParts({ params }: V1Request): readonly string[] {
  return Object.entries(params).map(([name, value]) => `{${name}}=${classOf(value)}`)
}

/** Treats both spellings as one parameter. Names that no table has may hold secrets, so they are only counted. */
function queryParts(operation: Operation, { query }: V1Request): readonly string[] {
  const names = namesOf(operation)
  const classes = new Map<string, string>()
  let unknown = 0
  for (const [spelling, values] of query) {
    const name = names.get(spelling)
    if (name === undefined) unknown += 1
    else if (values.length > 0) classes.set(name, values.length > 1 || classes.has(name) ? 'several' : classOf(values[0] ?? ''))
  }
  if (unknown > 0) classes.set('(unknown)', String(unknown))
  return Array.from(classes, ([name, its]) => `${name}=${its}`)
}

/** The parameters of an operation in every spelling. They are cached, because tables do not change and every comparison reads them. */
const known = new WeakMap<Operation, ReadonlyMap<string, string>>()

function namesOf(operation: Operation): ReadonlyMap<string, string> {
  const found = known.get(operation)
  if (found) return found
  const names = [...Object.keys(operation.params), ...operation.ownParams]
  const made = new Map(names.flatMap((name) => spellings(name).map((spelling) => [spelling, name] as const)))
  known.set(operation, made)
  return made
}

function bodyParts({ request }: Operation, { body }: V1Request): readonly string[] {
  if (Array.isArray(body)) return ['(body)=list']
  if (!request || !isObject(body)) return []
  return Object.entries(request.fields).flatMap(([name, field]) => {
    const value = member(body, name, field)
    return value === undefined ? [] : [`.${name}=${bodyClass(value)}`]
  })
}

function bodyClass(value: unknown): string {
  if (typeof value === 'string') return classOf(value)
  if (value === null) return 'null'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : 'list'
  return typeof value
}

/** Classes of text that the API treats differently, tried in this order (facts §12, §16, §17). */
const CLASSES: readonly (readonly [name: string, test: (text: string) => boolean])[] = [
  ['empty', (text) => text === ''],
  ['flag', (text) => /^(?:t|f|true|false)$/i.test(text)],
  ['zero', (text) => /^[+-]?0+$/.test(text)],
  ['negative', (text) => /^-\d+$/.test(text)],
  // v2 serves at most 200 rows in a page (specification §8): one page and several pages are handled differently.
  ['small', (text) => /^\+?\d{1,9}$/.test(text) && Number(text) <= 200],
  ['large', (text) => /^\+?\d{1,19}$/.test(text)],
  ['root', (text) => /^[0-9a-f]{40}$/.test(text)],
  ['child', (text) => /^[0-9a-f]{40}\/[0-9a-f]{16}$/.test(text)],
  ['deep', (text) => /^[0-9a-f]{40}(?:\/[0-9a-f]{16})+$/.test(text)],
  ['digest', (text) => /^sha256:[0-9a-f]{64}$/.test(text)],
  ['time', (text) => instant(text) !== undefined],
  ['descending', (text) => /\sdesc$/i.test(text)],
]

export function classOf(text: string): string {
  return CLASSES.find(([, test]) => test(text))?.[0] ?? 'text'
}

/** What the evidence about an operation says at a target (evidence §6). */
export type EvidenceStanding = 'inside' | 'outside' | 'inconclusive'

/** Judges by the worst stratum that has enough, by the share of requests, and by what is not known of them. */
export function standingOf(evidence: OperationEvidence, target: number): EvidenceStanding {
  const { n, bad, bound, repeats, share } = evidence
  const strata = hasEnough(evidence, target) ? [{ n, bad, bound }, repeats] : [{ n, bad, bound }]
  const isInside = share <= target && strata.every((one) => one.bound <= target)
  const isUnproven = isTooLittleKnown(evidence, target) || isTooLittleTried(evidence, target) || isTooMuchAlone(evidence, target)
  if (isInside) return isUnproven ? 'inconclusive' : 'inside'
  return share > target || strata.some((one) => one.bad > target * one.n) ? 'outside' : 'inconclusive'
}

/** The share of the uses of which nothing may be known, unless the target allows more. */
const UNKNOWN_SHARE = 0.01

export function isTooLittleKnown(evidence: OperationEvidence, target: number): boolean {
  return unknownShare(evidence) > Math.max(target, UNKNOWN_SHARE)
}

/**
 * Returns the observations of a write in which v2 itself wrote. A write that v1 served says that the tables make a call of it and read it
 * back, and nothing of what v2 does with the call. Nor does one of which the comparison has no result, or in which a race explains it.
 */
export function triedOf({ n, comparisons, uncompared: { untried = 0, undecided = 0 } }: OperationEvidence): number {
  return Math.min(n, Math.max(0, comparisons - untried - undecided))
}

function isTooLittleTried(evidence: OperationEvidence, target: number): boolean {
  return upperBound({ n: triedOf(evidence), bad: evidence.bad }) > target
}

/** Says how often v2 itself wrote, and what more is needed: `3 more until ≤ 1 %`. */
export function untriedReason(operation: string, tried: number, more: string): string {
  if (tried === 0)
    return `INCONCLUSIVE, because v2 has never been seen to write this; give it a share: crosswalk rollouts ${operation} start`
  return `INCONCLUSIVE, because v2 was seen to write this in ${many(tried, 'observation')}; ${more}`
}

/** Says how many uses are unknown, without the name of the operation. */
export function unknownReason(evidence: OperationEvidence, target: number): string {
  const most = percent(Math.max(target, UNKNOWN_SHARE))
  return `INCONCLUSIVE, because ${percent(unknownShare(evidence))} of its uses could not be compared; at most ${most} may be unknown`
}

/** Returns the share of the uses that could not be compared because of v1 or the client, 0–1. */
function unknownShare({ n, repeats, uncompared }: OperationEvidence): number {
  const unknown = inAccount(uncompared, 'unknown')
  return unknown / Math.max(1, n + repeats.requests + unknown)
}

/** Returns the number of requests of which v2's own answer left nothing to compare. Nobody knows whether v1 would have answered them otherwise. */
export function aloneOf({ uncompared }: Pick<OperationEvidence, 'uncompared'>): number {
  return inAccount(uncompared, 'alone')
}

/** True if something is known of the answers of v2 that no acceptance may hide. */
export function isKnownWrong(evidence: OperationEvidence | undefined): boolean {
  if (evidence === undefined) return false
  return evidence.bad + evidence.repeats.bad + aloneOf(evidence) > 0 || (evidence.kinds ?? []).some(isWrongKind)
}

/** Returns the observations as they are if all that v2 did alone is wrong. */
export function worstOf(evidence: OperationEvidence): Sample {
  const alone = aloneOf(evidence)
  return { n: Math.max(triedOf(evidence), alone), bad: evidence.bad + alone }
}

/** Returns the share of requests with a wrong answer, if all that v2 did alone is wrong. */
export function worstShare(evidence: OperationEvidence): number {
  const { n, bad, repeats } = evidence
  const alone = aloneOf(evidence)
  return (bad + repeats.wrong + alone) / Math.max(1, n + repeats.requests + alone)
}

function isTooMuchAlone(evidence: OperationEvidence, target: number): boolean {
  return aloneOf(evidence) > 0 && (upperBound(worstOf(evidence)) > target || worstShare(evidence) > target)
}

/** Says what v2 did alone and what to do, without the name of the operation: `INCONCLUSIVE, because up to 14 % may be wrong: 12 requests …`. */
export function aloneReason(evidence: OperationEvidence): string {
  const most = percent(Math.max(upperBound(worstOf(evidence)), worstShare(evidence)))
  const sentences = uncomparedSentences(evidence.uncompared, (account) => account === 'alone').map((one) => one.slice(0, -1))
  return `INCONCLUSIVE, because up to ${most} may be wrong, as ${sentences.join(', and ')}`
}

function inAccount(uncompared: UncomparedCounts, account: Account): number {
  const entries = Object.entries(uncompared) as [Uncompared, number][]
  return entries.reduce((sum, [why, count]) => (UNCOMPARED[why]?.account === account ? sum + count : sum), 0)
}

/** Where the uses of an operation went. They are the sum of all others. */
export interface Accounts {
  /** Requests in a diff mode whose caller a side accepted. */
  readonly uses: number
  readonly same: number
  readonly declared: number
  readonly wrong: number
  /** A change between the two answers explains the difference. */
  readonly race: number
  /** Left out before anything was known of v2's answer. */
  readonly coin: number
  /** v1, the client or a defect of Crosswalk left nothing to compare. */
  readonly unknown: number
  /** Only v2's own answer left nothing to compare. */
  readonly alone: number
  /** Writes that no read shows. */
  readonly unread: number
  /** No side accepted the request. */
  readonly refused: number
  /** The comparison has not ended yet. */
  readonly waiting: number
}

export function accountsOf({ booked, uncompared }: Pick<OperationEvidence, 'booked' | 'uncompared'>): Accounts {
  const { same = 0, declared = 0, wrong = 0, race = 0 } = booked
  const [coin, unknown, alone] = [inAccount(uncompared, 'coin'), inAccount(uncompared, 'unknown'), inAccount(uncompared, 'alone')]
  const [unread, refused] = [inAccount(uncompared, 'write'), inAccount(uncompared, 'stranger')]
  const ended = same + declared + wrong + race + coin + unknown + alone + unread + refused
  // Records of versions before 0.3 have no uses, and a file that was removed may have held the use of what a later one ends.
  const uses = Math.max(booked.uses ?? 0, ended)
  return { ...{ uses, same, declared, wrong, race, coin, unknown, alone, unread, refused }, waiting: uses - ended }
}

const ACCOUNT_NAMES: readonly (readonly [account: Exclude<keyof Accounts, 'uses'>, name: string])[] = [
  ['same', 'the same'],
  ['declared', 'declared'],
  ['wrong', 'wrong'],
  ['race', 'in a race'],
  ['coin', 'left out by chance'],
  ['unknown', 'unknown'],
  ['alone', 'answered by v2 alone'],
  ['unread', 'writes that no read shows'],
  ['refused', 'accepted by no side'],
  ['waiting', 'waiting'],
]

/** `40 uses = 31 the same + 2 wrong + 7 left out by chance`. */
export function accountSentence(evidence: Pick<OperationEvidence, 'booked' | 'uncompared'>): string {
  const accounts = accountsOf(evidence)
  const parts = ACCOUNT_NAMES.flatMap(([account, name]) => (accounts[account] === 0 ? [] : [`${count(accounts[account])} ${name}`]))
  return `${many(accounts.uses, 'use')}${parts.length > 0 ? ` = ${parts.join(' + ')}` : ''}`
}

/** True if the repeats are so many that a clean v2 would be inside by them alone. */
export function hasEnough({ repeats }: { readonly repeats: Pick<Sample, 'n'> }, target: number): boolean {
  return repeats.n >= cleanNeeded({ n: 0, bad: 0 }, target)
}

/** Says in one or several sentences why the operation stands where it stands, and what leads further. */
export function reasonOf(evidence: OperationEvidence, target: number): string {
  const standing = standingOf(evidence, target)
  const text = `${evidence.operation}: ${SENTENCES[standing](evidence, target)}.`
  return standing === 'inside' ? text : [text, ...restOf(evidence, text)].join(' ')
}

/** Returns the sentences on what was not compared that a text does not say yet. */
export function restOf({ uncompared }: OperationEvidence, text: string): readonly string[] {
  return uncomparedSentences(uncompared).filter((sentence) => !text.includes(sentence.slice(0, -1)))
}

const SENTENCES: Readonly<Record<EvidenceStanding, (evidence: OperationEvidence, target: number) => string>> = {
  inside: ({ n, bound, share }, target) =>
    `bound ${percent(bound)} ≤ ${percent(target)} after ${many(n, 'observation')}${share > 0 ? `, ${percent(share)} of the requests wrong` : ''}`,
  outside: (evidence, target) => `OUTSIDE: ${wrongIn(evidence)}. Fix them, then ${further(evidence, target)}`,
  inconclusive(evidence, target) {
    if (cleanNeeded(evidence, target) === 0) {
      if (isTooLittleKnown(evidence, target)) return unknownReason(evidence, target)
      if (isTooLittleTried(evidence, target)) {
        const tried = triedOf(evidence)
        return untriedReason(
          evidence.operation,
          tried,
          `${count(cleanNeeded({ n: tried, bad: evidence.bad }, target))} more until ≤ ${percent(target)}`,
        )
      }
      if (isTooMuchAlone(evidence, target)) return aloneReason(evidence)
    }
    return `INCONCLUSIVE after ${many(evidence.n, 'observation')} (bound ${percent(evidence.bound)}); ${further(evidence, target)}`
  },
}

function wrongIn({ mismatches, transients, errors, n, bad, share }: OperationEvidence): string {
  const kinds = [
    ...(mismatches > 0 ? [many(mismatches, 'mismatch', 'mismatches')] : []),
    ...(transients > 0 ? [many(transients, 'transient difference')] : []),
    ...(errors > 0 ? [many(errors, 'error')] : []),
  ]
  return [kinds.join(', '), `${count(bad)} of ${many(n, 'observation')} and ${percent(share)} of the requests were wrong`]
    .filter((clause) => clause !== '')
    .join('; ')
}

/** Says what is still needed: `3,282 more clean observations until ≤ 0.1 %, about 9 days at today's pace`. A pace that is not known is left out. */
function further(evidence: OperationEvidence, target: number): string {
  const { repeats } = evidence
  const needed = cleanNeeded(evidence, target)
  const time = evidence.perDay === undefined ? '' : `, ${timeNeeded(evidence, target)}`
  if (needed > 0) return `${many(needed, 'more clean observation')} until ≤ ${percent(target)}${time}`
  if (!hasEnough(evidence, target)) return `further requests until at most ${percent(target)} of all are wrong`
  return `${many(cleanNeeded(repeats, target), 'more clean repeat')} until ≤ ${percent(target)}`
}

/** Returns how many days the needed observations take at today's pace; undefined while it is unknown. */
export function daysNeeded(evidence: OperationEvidence, target: number): number | undefined {
  return evidence.perDay === undefined ? undefined : cleanNeeded(evidence, target) / evidence.perDay
}

/** Estimates how long the needed observations take: `about 9 days at today's pace`. */
export function timeNeeded(evidence: OperationEvidence, target: number): string {
  const days = daysNeeded(evidence, target)
  return days === undefined ? 'at a pace that is not known yet' : `${daysText(days)} at today's pace`
}

/** `about 9 days`, `about 1 hour`. */
export function daysText(days: number): string {
  return `about ${days < 2 ? many(Math.ceil(days * 24), 'hour') : many(Math.ceil(days), 'day')}`
}
