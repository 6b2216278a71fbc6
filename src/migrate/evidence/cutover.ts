import type { Operation } from '../../tables/operation.ts'
import { isReadBack } from '../../tables/operations.ts'
import { type Client, createUseOf, isUnknownUse, shownClient, type Use, unknownUse } from '../clients.ts'
import type { DeclarationReport } from '../compare/expected.ts'
import type { Actor, Caller, Note } from '../records/record.ts'
import type { Ledger } from '../records/record-file.ts'
import { cleanNeeded, count, many, noEvidence, type OperationEvidence, percent, wrongOf } from './evidence.ts'
import { type AskedOperation, type AskedUse, askedOf, type MissingKind } from './kinds.ts'
import type { Replicas } from './replicas.ts'
import { aloneOf, aloneReason, type EvidenceStanding, isKnownWrong, reasonOf, standingOf } from './standing.ts'
import {
  type Acceptance,
  type CutoverTerms,
  coversClient,
  coversUse,
  type Dismissal,
  type TermsOfOne,
  termsOf,
  USUAL_TERMS,
} from './terms.ts'
import { blindSpotOf, judgeWhole, seenText, type WholeVerdict, whenDone } from './whole.ts'

/** The part of the traffic that a cutover is asked about. Patterns are those of mode rules; none stands for everything. */
export interface CutoverScope {
  /** Operation ids. */
  readonly operations: readonly string[]
  /** Hashes of callers, or subjects. */
  readonly clients: readonly string[]
}

type Seen = Pick<Replicas, 'evidence' | 'traffic' | 'clients' | 'strangers' | 'openCircuits' | 'rollouts'>

/**
 * Leaves out what is beyond the scope. Traffic is known by client, evidence by operation only: with clients in the scope, their calls
 * decide which operations count, and the evidence stays that of all clients.
 */
export function inScope(seen: Seen, scope: CutoverScope): Seen {
  const chosen = scope.clients.length === 0 ? seen : ofClients(seen, scope.clients)
  const isIn = (operation: string) => scope.operations.length === 0 || scope.operations.some((pattern) => coversUse(pattern, operation))
  return {
    ...chosen,
    evidence: chosen.evidence.filter(({ operation }) => isIn(operation)),
    traffic: new Map([...chosen.traffic].filter(([operation]) => isIn(operation))),
    strangers: new Map([...chosen.strangers].filter(([operation]) => isIn(operation))),
  }
}

function ofClients(seen: Seen, patterns: readonly string[]): Seen {
  const clients = seen.clients.filter((client) => patterns.some((pattern) => coversClient(pattern, client)))
  const traffic = new Map<string, number>()
  for (const { operation, calls } of clients.flatMap(({ operations }) => operations)) {
    traffic.set(operation, (traffic.get(operation) ?? 0) + calls)
  }
  return { ...seen, clients, traffic, evidence: seen.evidence.filter(({ operation }) => traffic.has(operation)) }
}

/** What a verdict needs to know of a rollout. */
export interface RolloutOutlook {
  readonly name: string
  /** Ids of the operations that its rule decides about. */
  readonly reach: readonly string[]
  readonly phase: string
  /** Share of the callers in force, 0–100. */
  readonly percent: number
  /** Why it is in this phase, in one sentence. */
  readonly reason: string
}

/** Says why a rollout of the operation turned back, if one did: v2 was wrong for its first clients. */
function turnedBackReason(operation: string, rollouts: readonly RolloutOutlook[]): string | undefined {
  const back = rollouts.find(({ phase, reach }) => phase === 'turned-back' && reach.includes(operation))
  return back && `rollout ${back.name} turned back. ${ended(back.reason)}`
}

/** Returns a sentence for each rollout of these operations that is not done. One that turned back is in the way instead. */
export function rolloutSentences(operations: readonly string[], rollouts: readonly RolloutOutlook[]): readonly string[] {
  const open = rollouts.filter(({ phase, reach }) => {
    return phase !== 'done' && phase !== 'turned-back' && operations.some((operation) => reach.includes(operation))
  })
  const sentences = open.map(({ name, phase, percent, reason }) => `Rollout ${name} is ${phase} at ${percent} %: ${ended(reason)}`)
  return [...new Set(sentences)].sort()
}

function ended(sentence: string): string {
  return sentence.endsWith('.') ? sentence : `${sentence}.`
}

/**
 * `inside`: at 95 %, fewer answers than the target are wrong. `outside`: more were wrong. `inconclusive`: too little is known, never a
 * pass. `held-back`: its circuit or its rollout stops it, whatever its own answers say. `v1-only`: v2 cannot answer it. `unverifiable`: a
 * write that v2 answers and no read can show, so that no evidence is possible.
 */
export type Standing = EvidenceStanding | 'held-back' | 'v1-only' | 'unverifiable'

/** The worst first. */
export const STANDING_ORDER = [
  'outside',
  'held-back',
  'inconclusive',
  'v1-only',
  'unverifiable',
  'inside',
] as const satisfies readonly Standing[]

/** Calls of one operation by one client. */
interface ClientCalls extends Caller {
  /** The name that a person gave the client. */
  readonly name?: string
  readonly calls: number
}

export interface OperationVerdict {
  /** Operation id, or the name of a use that only v1 answers (`createUseOf`). */
  readonly operation: string
  readonly standing: Standing
  /** True if it keeps the verdict from being ready. */
  readonly blocks: boolean
  /** One sentence that gives the reason. */
  readonly reason: string
  /** Clean observations that are still needed; undefined where none is possible. */
  readonly needed: number | undefined
  /** Requests of clients, compared or not. */
  readonly calls: number
  /** Most calls first. */
  readonly clients: readonly ClientCalls[]
  readonly evidence?: OperationEvidence
  /** Acceptable share of wrong answers, if a person gave it one by its name. */
  readonly target?: number
  /** The word of a person by which it is not in the way, although it is not proven. */
  readonly accepted?: Acceptance
  /** The kinds of its requests that keep all together from being ready, most requests first. */
  readonly missing?: readonly MissingKind[]
  /** True of a read that only was seen too seldom: `crosswalk rehearse` may be enough. */
  readonly canRehearse?: true
}

/** What is known of one operation. */
interface OperationCase extends Pick<OperationVerdict, 'calls' | 'clients'> {
  readonly id: string
  readonly use: Use | undefined
  readonly evidence: OperationEvidence | undefined
  /** Why its circuit is open now, if it is. */
  readonly openCircuit: string | undefined
  /** Why a rollout of it turned back, if one did. */
  readonly turnedBack: string | undefined
  /** Requests to a path that no table has, which v1 answered well, of callers that nothing else proves. */
  readonly strangers: number
  readonly dismissed: Dismissal | undefined
  readonly asked: AskedOperation | undefined
  readonly terms: TermsOfOne
}

interface Aim {
  readonly target: number
  readonly withoutV1: boolean
  /** How often each operation must have been seen the same. Undefined if each is judged by itself. */
  readonly each?: number | undefined
}

/** Judges one operation by its own target, and by the word of a person where nothing wrong is known of it. */
function verdictOf(one: OperationCase, general: Aim): OperationVerdict {
  const { id, terms, evidence } = one
  const { target = general.target, accept, over } = terms
  const judged = { ...provenVerdict(one, { ...general, target }), ...(terms.target !== undefined && { target }) }
  const { standing, blocks, reason } = judged
  const isProven = !blocks && (general.each === undefined || standing === 'inside')
  if (over && blocks) return { ...judged, reason: `${reason} Its acceptance is over since ${over.until}: ${over.reason}.` }
  if (!accept || isProven || standing === 'unverifiable') return judged
  const isStopped = one.openCircuit !== undefined || one.turnedBack !== undefined
  if (standing === 'v1-only') return blocks ? { ...judged, reason: `${reason} An acceptance cannot let v2 answer it.` } : judged
  if (isStopped || standing === 'outside' || isKnownWrong(evidence)) {
    const told = `Its acceptance until ${accept.until} does not hold, because v2 is known to be wrong here`
    return blocks ? { ...judged, reason: `${reason} ${told}.` } : judged
  }
  const told = `${id} is accepted without proof until ${accept.until} (${usesOf(one)}): ${accept.reason}.`
  return { ...judged, blocks: false, accepted: accept, reason: `${told} ${reason}` }
}

function provenVerdict(one: OperationCase, aim: Aim): OperationVerdict {
  const { id, use, evidence, openCircuit, turnedBack, calls, clients } = one
  const seen = { operation: id, calls, clients, ...(evidence && { evidence }) }
  if (use?.kind === 'v1-only') {
    return { ...seen, standing: 'v1-only', blocks: aim.withoutV1 && !one.dismissed, reason: v1OnlyReason(one, use, aim), needed: undefined }
  }
  const stop = openCircuit === undefined ? turnedBack : `circuit is open. ${openCircuit}.`
  if (stop !== undefined) {
    const own = evidence && standingOf(evidence, aim.target)
    // A week of clean evidence outweighs the last minutes, in which v2 may have broken.
    const said = evidence === undefined || own === 'inside' ? undefined : reasonOf(evidence, aim.target)
    const held = `${id}: HELD BACK, because its ${stop}${said === undefined ? '' : ` Its evidence is ${said.slice(id.length + 2)}`}`
    const reason = own === 'outside' ? `${said} Its ${stop}` : held
    return {
      ...seen,
      standing: own === 'outside' ? own : 'held-back',
      blocks: true,
      reason,
      needed: cleanNeeded(evidence ?? noEvidence(id), aim.target),
    }
  }
  if (use?.readBack && !isReadBack(use.readBack) && !isFailing(evidence, aim.target)) {
    if (evidence && isRefused(evidence, aim.target)) {
      return { ...seen, standing: 'inconclusive', blocks: true, reason: `${id}: ${aloneReason(evidence)}.`, needed: undefined }
    }
    const reason = `${id} cannot be verified (${usesOf(one)}): ${use.readBack.unverifiable}.`
    return { ...seen, standing: 'unverifiable', blocks: false, reason, needed: undefined }
  }
  const needed = cleanNeeded(evidence ?? noEvidence(id), aim.target)
  if (!evidence) {
    const reason = `${id} had ${many(calls, 'request')} and no comparison: put it into a diff mode.`
    const isRehearsable = aim.each !== undefined && use && !use.readBack
    return { ...seen, standing: 'inconclusive', blocks: true, reason, needed, ...(isRehearsable && { canRehearse: true }) }
  }
  const standing = standingOf(evidence, aim.target)
  if (aim.each === undefined) return { ...seen, standing, blocks: standing !== 'inside', reason: reasonOf(evidence, aim.target), needed }
  const blindSpot = blindSpotOf(evidence, aim.target, aim.each, one.asked)
  const missing = blindSpot?.missing && { missing: blindSpot.missing }
  const isRehearsable = blindSpot?.isRare && use && !use.readBack
  const reason = blindSpot?.reason ?? seenText(evidence)
  return { ...seen, standing, blocks: blindSpot !== undefined, reason, needed, ...missing, ...(isRehearsable && { canRehearse: true }) }
}

/** True if v2 failed too many writes whose effect cannot be read. Nothing else is known of them. */
function isFailing(evidence: OperationEvidence | undefined, target: number): boolean {
  return evidence !== undefined && wrongOf(evidence) > target * (evidence.n + evidence.inconclusive)
}

/** True if v2 alone refused too many writes whose effect cannot be read. */
function isRefused(evidence: OperationEvidence, target: number): boolean {
  const alone = aloneOf(evidence)
  return alone > target * (evidence.n + evidence.inconclusive + alone)
}

function v1OnlyReason(one: OperationCase, { because }: Use, { withoutV1 }: Aim): string {
  const { id, strangers, dismissed } = one
  if (dismissed) return `${id} is dismissed until ${dismissed.until} (${many(one.calls + strangers, 'call')}): ${dismissed.reason}.`
  if (one.calls === 0) {
    const of = 'of callers that no other request proves'
    return `${id}: INCONCLUSIVE, because v1 answered ${many(strangers, 'request')} ${of}. Find out who calls it, or dismiss it (--dismiss).`
  }
  if (!withoutV1) return `${one.id} stays with v1 (${usesOf(one)}): ${because}.`
  return `${one.id} needs a v1 service (${usesOf(one)}${named(one.clients)}): ${because}.`
}

function usesOf({ calls, clients }: OperationCase): string {
  return `${many(calls, 'call')} by ${many(clients.length, 'client')}`
}

/** Maximum clients that a sentence names. */
const NAMED = 5

function named(clients: readonly ClientCalls[]): string {
  if (clients.length === 0) return ''
  const names = clients.slice(0, NAMED).map((client) => `${shownClient(client)} ${count(client.calls)}`)
  return `: ${[...names, ...(clients.length > NAMED ? [`${clients.length - NAMED} more`] : [])].join(', ')}`
}

/** What replicas that share a store say besides their counts. */
export interface FleetView {
  /** The replica that answers. */
  readonly self: string
  /** What is missing, in sentences that name the replica. Empty if the counts are those of all replicas, up to the question. */
  readonly problems: readonly string[]
  /** Those of `problems` that end by themselves within seconds. An older replica does not tell them. */
  readonly busy?: readonly string[]
  readonly epoch: EpochView
  readonly replicas: readonly FleetMember[]
}

/** One process of a fleet, as its last heartbeat tells. */
export interface FleetMember {
  readonly id: string
  /** That of its machine or container. */
  readonly name: string
  /** Milliseconds since its last heartbeat, and whether that is recent. */
  readonly seenMs: number
  readonly isLive: boolean
  /** The version of the modes in force there. */
  readonly version: number
  /** Observations that the store does not have yet, clean ones that had no room, and wrong ones that had none. */
  readonly waiting: number
  readonly dropped: number
  readonly lost: number
}

/** Evidence of different epochs never merges. */
export interface EpochView {
  /** Grows with each epoch that a person begins; 0 before the first. */
  readonly nth: number
  /** Hash of the mapping tables. */
  readonly tables: string
  /** What the operator calls the v2 build (`upstream.v2Build`). */
  readonly build?: string
  /** When a person began it (RFC 3339), and who. */
  readonly at?: string
  readonly by?: Actor
}

/** What one process has counted, or all replicas of a fleet: a report shows it, and a verdict judges it. */
export interface Counted {
  readonly evidence: readonly OperationEvidence[]
  /** v1 requests by operation id, compared or not. */
  readonly traffic: ReadonlyMap<string, number>
  /** Requests by operation id whose credential no service accepted. They are not counted elsewhere. */
  readonly strangers: ReadonlyMap<string, number>
  /** Calls of clients beyond those that are told apart. `traffic` includes them. */
  readonly uncounted: number
  readonly declarations: readonly DeclarationReport[]
  /** Present if replicas share a store. */
  readonly fleet?: FleetView
}

/** Returns what one process has counted, or a command has read. */
export function countedIn({ evidence, inventory, expected }: Ledger): Counted {
  const [traffic, strangers, uncounted] = [inventory.traffic(), inventory.strangers(), inventory.uncounted()]
  return { evidence: evidence.all(), traffic, strangers, uncounted, declarations: expected.report() }
}

/** The usual target: 0.1 % wrong answers. */
export const TARGET = 0.001

/** Uses of v1 by one client, as far as a verdict needs them. */
export interface ClientUses extends Pick<Client, 'caller' | 'subject' | 'name'> {
  readonly operations: readonly AskedUse[]
}

export interface CutoverQuestion {
  /** Acceptable share of wrong answers, 0 < target < 1. */
  readonly target: number
  /** True asks whether v1 can be switched off. False asks whether v2 can serve what it has, while v1 stays for the rest. */
  readonly withoutV1: boolean
  /** True holds the target against each operation by itself. Default: against all requests together, and each operation must have been seen. */
  readonly isStrict?: boolean | undefined
  /** What persons decided, and the time, in milliseconds since 1970. Default: nothing. */
  readonly terms?: (CutoverTerms & { readonly now: number }) | undefined
  readonly evidence: readonly OperationEvidence[]
  /** v1 requests by operation id, compared or not. */
  readonly traffic: ReadonlyMap<string, number>
  readonly clients: readonly ClientUses[]
  /** What clients ask, by operation id. Default: what `clients` tell. */
  readonly asked?: ReadonlyMap<string, AskedOperation> | undefined
  /** Requests of strangers by operation id. Records tell those to paths that no table has. */
  readonly strangers?: ReadonlyMap<string, number>
  readonly dismissed?: readonly Dismissal[]
  /** Why each open circuit opened, by operation id. Records do not tell the present state. */
  readonly openCircuits?: ReadonlyMap<string, string>
  /** The rollouts of the proxies that were asked. Records do not tell them either. */
  readonly rollouts?: readonly RolloutOutlook[]
  readonly operations: readonly Operation[]
}

export interface CutoverVerdict {
  /** True if none is in the way, and enough is known: of all requests together, or of an operation. */
  readonly ready: boolean
  readonly target: number
  readonly withoutV1: boolean
  readonly operations: readonly OperationVerdict[]
  /** One sentence for each operation in the way; one sentence in all if `ready`. */
  readonly reasons: readonly string[]
  /** The verdict on all requests together. Absent if each operation is judged by itself. */
  readonly whole?: WholeVerdict
}

/** Judges whether every operation with traffic can move to v2. */
export function judgeCutover(question: CutoverQuestion): CutoverVerdict {
  const { target, withoutV1, isStrict = false, evidence, traffic, clients, openCircuits, rollouts = [], operations } = question
  const { terms = { ...USUAL_TERMS, now: 0 } } = question
  const each = isStrict ? undefined : terms.each
  // What v1 answered well is in the way of its end, whoever asked. A refusal of both sides is not.
  const strangers = new Map(withoutV1 ? [...(question.strangers ?? [])].filter(([id]) => isUnknownUse(id)) : [])
  const useOf = createUseOf(operations)
  const seen = new Map(evidence.map((one) => [one.operation, one]))
  const callers = callersOf(clients)
  const asked = each === undefined ? undefined : (question.asked ?? askedOf(clients))
  const ids = [...new Set([...traffic.keys(), ...seen.keys(), ...strangers.keys()])].sort()
  const verdicts = ids.map((id) => {
    const calls = { calls: traffic.get(id) ?? 0, clients: callers.get(id) ?? [] }
    const stops = { openCircuit: openCircuits?.get(id), turnedBack: turnedBackReason(id, rollouts) }
    const dismissed = question.dismissed?.find(({ called }) => unknownUse(called) === id)
    const known = { use: useOf(id), evidence: seen.get(id), ...stops, strangers: strangers.get(id) ?? 0, dismissed }
    const named = { asked: asked?.get(id), terms: termsOf(id, terms, terms.now) }
    return verdictOf({ id, ...known, ...calls, ...named }, { target, withoutV1, each })
  })
  if (each !== undefined) return judgedWhole(verdicts, { target, withoutV1, each })
  const inTheWay = verdicts.filter(({ blocks }) => blocks).map(({ reason }) => reason)
  const reasons = inTheWay.length > 0 ? inTheWay : [conclusion(verdicts, target)]
  return { ready: inTheWay.length === 0 && numberOf(verdicts, 'inside') > 0, target, withoutV1, operations: verdicts, reasons }
}

/** Adds the verdict on all requests together. What is in the way is sorted by its requests. */
function judgedWhole(verdicts: readonly OperationVerdict[], { target, withoutV1, each }: Aim & { readonly each: number }): CutoverVerdict {
  const judged = verdicts.filter(({ standing, accepted }) => standing !== 'v1-only' && standing !== 'unverifiable' && !accepted)
  const parts = judged.map(({ operation, calls, evidence, target, missing }) => ({ operation, calls, evidence, target, missing }))
  const together = judgeWhole(parts, target, each)
  const accepted = acceptedText(verdicts)
  const there = judged.filter(({ blocks }) => !blocks).length
  const isDone = together.isInside && there === judged.length
  const whole = {
    ...together,
    ...(accepted !== undefined && { reason: `${together.reason} ${accepted}.` }),
    ...(!isDone && { when: whenDone(together, there, judged.length, judged.filter(({ canRehearse }) => canRehearse).length) }),
  }
  const operations = [...verdicts].sort((a, b) => b.calls - a.calls)
  const inTheWay = operations.filter(({ blocks }) => blocks).map(({ reason }) => reason)
  const known = { target, withoutV1, operations, whole }
  if (judged.length === 0) return { ready: false, ...known, reasons: inTheWay.length > 0 ? inTheWay : [conclusion(verdicts, target)] }
  const ready = inTheWay.length === 0 && whole.isInside
  return { ready, ...known, reasons: ready || !whole.isInside ? [...inTheWay, whole.reason] : inTheWay }
}

function conclusion(verdicts: readonly OperationVerdict[], target: number): string {
  const inside = numberOf(verdicts, 'inside')
  if (verdicts.length === 0) return 'No v1 request was seen yet: nothing is known.'
  if (inside === 0) return 'No request was seen whose answer could be compared: nothing is known.'
  const hasOwn = verdicts.some((one) => one.standing === 'inside' && one.target !== undefined)
  const done = `All ${inside} operations with traffic have a bound ${hasOwn ? 'within their targets' : `of ${percent(target)} or less`}`
  return `${[done, ...besideTexts(verdicts)].join('; ')}.`
}

/** Says what a verdict that is ready does not cover: `2 more stay with v1`. */
export function besideTexts(verdicts: readonly OperationVerdict[]): readonly string[] {
  const [stays, unverifiable] = [numberOf(verdicts, 'v1-only'), numberOf(verdicts, 'unverifiable')]
  const accepted = acceptedText(verdicts)
  return [
    ...(stays > 0 ? [`${stays} more ${stays === 1 ? 'stays' : 'stay'} with v1`] : []),
    ...(unverifiable > 0 ? [`${unverifiable} more cannot be verified`] : []),
    ...(accepted === undefined ? [] : [accepted]),
  ]
}

/** Says how many operations move without proof: `2 more with 40 requests are accepted without proof`. Undefined if none does. */
function acceptedText(verdicts: readonly OperationVerdict[]): string | undefined {
  const accepted = verdicts.filter((one) => one.accepted !== undefined)
  const requests = accepted.reduce((sum, { calls, evidence }) => sum + Math.max(calls, evidence?.comparisons ?? 0), 0)
  const are = accepted.length === 1 ? 'is' : 'are'
  return accepted.length === 0 ? undefined : `${accepted.length} more with ${many(requests, 'request')} ${are} accepted without proof`
}

function numberOf(verdicts: readonly OperationVerdict[], standing: Standing): number {
  return verdicts.filter((one) => one.standing === standing).length
}

/** The clients of each operation, those with the most calls first. */
function callersOf(clients: readonly ClientUses[]): ReadonlyMap<string, readonly ClientCalls[]> {
  const found = new Map<string, ClientCalls[]>()
  for (const { caller, subject, name, operations } of clients) {
    for (const { operation, calls } of operations) {
      const known = found.get(operation) ?? []
      found.set(operation, known)
      known.push({ caller, ...(subject !== undefined && { subject }), ...(name !== undefined && { name }), calls })
    }
  }
  for (const callers of found.values()) callers.sort((a, b) => b.calls - a.calls || (a.caller < b.caller ? -1 : 1))
  return found
}

/** What is noted when an operation, or everything together, becomes ready to move or stops being so. */
export type ReadinessNote = Pick<Note, 'what' | 'operation' | 'text' | 'from' | 'to'>

/**
 * Milliseconds after which something that stopped being ready may be called ready again. That it stopped is said at once. So whatever hovers
 * at the target is told once in this time, and the last word is never too good.
 */
const HOLD_MS = 300_000

/** Everything together has no operation id. */
const WHOLE = ''

interface Subject {
  readonly isReady: boolean
  /** Where it stands, in one or two words. */
  readonly standing: string
  readonly reason: string
}

interface Said extends Pick<Subject, 'isReady' | 'standing'> {
  /** When it stopped being ready, if that was said. */
  readonly stoppedAt?: number
}

/** Remembers what was said about the readiness of each operation, and finds what is new in a verdict. */
export function createReadinessMemory() {
  const said = new Map<string, Said>()
  let isWaiting = false
  return {
    /** Takes a note of earlier records as said. */
    recall({ what, operation = WHOLE, at, to = what }: Note) {
      if (what === 'ready') said.set(operation, { isReady: true, standing: to })
      if (what === 'not-ready') said.set(operation, { isReady: false, standing: to, stoppedAt: Date.parse(at) })
    },
    /** Takes a verdict on earlier records as said, where no note of them says otherwise. */
    assume(verdict: CutoverVerdict) {
      for (const [key, subject] of subjectsOf(verdict)) if (!said.has(key)) said.set(key, subject)
    },
    /** Returns what is new in the verdict; `now` is in milliseconds since 1970. */
    news(verdict: CutoverVerdict, now: number): readonly ReadinessNote[] {
      const subjects = subjectsOf(verdict)
      const gone = [...said.keys()].filter((key) => !subjects.has(key)).map((key) => [key, GONE] as const)
      isWaiting = false
      return [...subjects, ...gone].flatMap(([key, subject]) => {
        const { isReady, standing } = subject
        const before = said.get(key) ?? UNKNOWN
        const { stoppedAt = Number.NEGATIVE_INFINITY } = before
        // A clock may step back, and the time that is left must not grow by that.
        if (isReady && !before.isReady && Math.abs(now - stoppedAt) < HOLD_MS) {
          isWaiting = true
          return []
        }
        const stopped = before.isReady ? { stoppedAt: now } : { stoppedAt }
        said.set(key, isReady ? { isReady, standing } : { isReady, standing, ...stopped })
        return isReady === before.isReady ? [] : [noteOf(key, subject, before)]
      })
    },
    /** True if something became ready again so soon that it is not said yet. */
    isWaiting: () => isWaiting,
  }
}

const UNKNOWN: Said = { isReady: false, standing: 'unknown' }
const GONE: Subject = { isReady: false, standing: 'unknown', reason: 'Nothing is known of it any more.' }

function noteOf(key: string, { isReady, standing, reason }: Subject, before: Said): ReadinessNote {
  const what = isReady ? 'ready' : 'not-ready'
  return { what, ...(key !== WHOLE && { operation: key }), text: reason, from: before.standing, to: standing }
}

function subjectsOf(verdict: CutoverVerdict): ReadonlyMap<string, Subject> {
  const each = verdict.operations.map(({ operation, standing, reason }) => {
    return [operation, { isReady: standing === 'inside', standing, reason }] as const
  })
  return new Map([...each, [WHOLE, wholeOf(verdict)]])
}

/** The operations in the way that a note names. */
const NAMED_CAUSES = 5

function wholeOf({ ready, operations, reasons }: CutoverVerdict): Subject {
  const inTheWay = operations.filter(({ blocks }) => blocks).map(({ operation }) => operation)
  const more = inTheWay.length > NAMED_CAUSES ? ` and ${inTheWay.length - NAMED_CAUSES} more` : ''
  const names = `In the way: ${inTheWay.slice(0, NAMED_CAUSES).join(', ')}${more}.`
  const reason = inTheWay.length === 0 ? reasons.join(' ') : names
  return { isReady: ready, standing: ready ? 'ready' : 'not ready', reason }
}
