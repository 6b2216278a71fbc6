import { setTimeout as wait } from 'node:timers/promises'
import { misuse } from '../../../errors.ts'
import {
  besideTexts,
  type CutoverQuestion,
  type CutoverScope,
  type CutoverVerdict,
  inScope,
  judgeCutover,
  type OperationVerdict,
  rolloutSentences,
  type Standing,
} from '../../../migrate/evidence/cutover.ts'
import { clausesOf, count, many, OBSERVATION } from '../../../migrate/evidence/evidence.ts'
import { joinReplicas } from '../../../migrate/evidence/replicas.ts'
import { type Accounts, accountSentence, accountsOf } from '../../../migrate/evidence/standing.ts'
import { EACH, USUAL_TERMS } from '../../../migrate/evidence/terms.ts'
import { withV1Values } from '../../../tables/operation.ts'
import { operationsOf } from '../../../tables/tables.ts'
import type { JunitCase } from '../../../tools/markup.ts'
import { type AskedReplica, adminFlags, askReplicas, missingIn, onePerFleet } from '../admin-port.ts'
import { type Command, FAILED, type Flags, textOf, textsOf, UNREAD } from '../command.ts'
import { checkClients, checkOperations, junitFlag, questionOf, scopeFlags, tablesFlag, verdictFlags, writeJunit } from '../flags.ts'
import { hung } from '../terminal.ts'

/** The answer of `crosswalk cutover`, as `--json` prints it. */
interface CutoverAnswer extends CutoverVerdict {
  readonly scope: CutoverScope
  /** The proxies that were asked. The answer is never ready if one of them has a problem. */
  readonly asked: readonly Pick<AskedReplica, 'admin' | 'problem' | 'page'>[]
  /** Requests by operation id whose credential no service accepted. They count nowhere. */
  readonly strangers: Readonly<Record<string, number>>
  /** What replicas that share a store have not told, in sentences. The answer is never ready then. */
  readonly missing: readonly string[]
  /** Operations whose clients reached more than one proxy. */
  readonly shared: readonly string[]
  /** Rollouts of these operations that are not done, in sentences. */
  readonly rollouts: readonly string[]
  /** What the answer takes for granted, in sentences. */
  readonly assumptions: readonly string[]
  /** Where the uses of each operation went, by operation id. */
  readonly accounts: Readonly<Record<string, Accounts>>
}

/** Says what limits the answer. */
function assumptionsOf(scope: CutoverScope, asked: readonly AskedReplica[], shared: readonly string[]): readonly string[] {
  const ofClients =
    'Only operations that these clients call are judged. Their evidence is that of all clients, because it is known by operation.'
  const ofReplicas = `At ${many(shared.length, 'operation')}, clients reached more than one proxy, so one request may be counted twice. Only the clean observations of the proxy with the most count there; crosswalk report reads the record files of all and counts each once.`
  const several = asked.length > 1 && shared.length > 0
  return [...(scope.clients.length > 0 ? [ofClients] : []), ...(several ? [ofReplicas] : [])]
}

/** Writes the answer as lines for a terminal: the answer itself, every operation with what is in the way last, and what limits the answer. */
function cutoverLines(answer: CutoverAnswer): readonly string[] {
  const { ready, withoutV1, operations, reasons, asked, missing, strangers, rollouts, assumptions, whole } = answer
  const inTheWay = operations.filter(({ blocks }) => blocks)
  const unasked = asked.filter(({ problem }) => problem !== undefined)
  const isWholeKnown = whole !== undefined && whole.requests > 0
  const unit = inTheWay.some(({ needed = 0 }) => needed > 0) || (isWholeKnown && whole.needed > 0) ? [OBSERVATION] : []
  const isUnknown = !ready && !isWholeKnown && inTheWay.length + unasked.length + missing.length === 0
  const unknown = isUnknown ? reasons : []
  const together = isWholeKnown ? marked(whole.isInside ? 'ok' : 'no', whole.reason) : []
  const inAll = inTheWay.length + unknown.length + (isWholeKnown && !whole.isInside ? 1 : 0)
  const limits = [
    ...notCounted(strangers),
    ...rollouts,
    ...assumptions,
    ...(ready ? readyLines(reasons, whole, operations) : unit),
    ...(isWholeKnown && whole.when !== undefined ? [whole.when] : paceLines(inTheWay)),
  ]
  const head = ready
    ? [withoutV1 ? 'Ready to switch v1 off.' : 'Ready to cut over.']
    : [...conclusion(inAll, unasked.length, asked.length), ...missing.map((sentence) => `INCONCLUSIVE: ${sentence}`)]
  return [
    ...head.flatMap((sentence) => hung('', sentence)),
    ...[...operations.filter(({ blocks }) => !blocks), ...inTheWay].flatMap((one) =>
      marked(one.blocks ? 'no' : (markOf(one) ?? 'ok'), one.reason),
    ),
    ...unknown.flatMap((reason) => marked('no', reason)),
    ...together,
    ...limits.flatMap(clausesOf).flatMap((clause) => hung('', clause)),
    ...[...new Set(asked.flatMap(({ page }) => page ?? []))].map((page) => `The page: ${page}`),
  ]
}

/** Says once of which operations nobody knows how long they take. */
function paceLines(inTheWay: readonly OperationVerdict[]): readonly string[] {
  const slow = inTheWay.filter(({ needed = 0, evidence }) => needed > 0 && evidence && evidence.perDay === undefined)
  const which = slow.length === 1 ? 'this operation takes' : `these ${count(slow.length)} operations take`
  return slow.length === 0 ? [] : [`How long ${which} is not known yet: a pace needs an hour of observations.`]
}

function readyLines(reasons: readonly string[], whole: CutoverAnswer['whole'], operations: readonly OperationVerdict[]): readonly string[] {
  if (!whole) return reasons
  const seen = `Each kind of request was seen the same at least ${many(whole.each, 'time')}, and so was enough of all together`
  return [`${[seen, ...besideTexts(operations)].join('; ')}.`]
}

/** `  no   iam.groups.list: INCONCLUSIVE after 40 observations (bound 9 %);`, and each further clause on a line of its own. */
function marked(mark: string, reason: string): readonly string[] {
  const [verdict = '', ...others] = clausesOf(reason)
  return [...hung(`  ${mark}   `, verdict), ...others.flatMap((clause) => hung('         ', clause))]
}

function markOf({ standing, accepted }: OperationVerdict): string | undefined {
  return accepted ? '--' : MARKS[standing]
}

/** What is not in the way, and not proven either. */
const MARKS: Partial<Readonly<Record<Standing, string>>> = { 'v1-only': 'v1', unverifiable: '--' }

/** Requests that no service accepted prove nothing. The person who decides should still know their number. */
function notCounted(strangers: CutoverAnswer['strangers']): readonly string[] {
  const requests = Object.values(strangers).reduce((sum, count) => sum + count, 0)
  const operations = Object.keys(strangers).length
  if (requests === 0) return []
  return [
    `Not counted: ${many(requests, 'request')} of strangers to ${many(operations, 'operation')}: no side accepted a credential of theirs.`,
  ]
}

function conclusion(inTheWay: number, unasked: number, asked: number): readonly string[] {
  return [
    ...(inTheWay > 0 ? [`Not ready: ${count(inTheWay)} in the way.`] : []),
    ...(unasked > 0 ? [`Not known: ${unasked} of ${many(asked, 'proxy', 'proxies')} could not be asked.`] : []),
  ]
}

/** Tells whether traffic may move to v2: the question of each step of a migration, and with `--without-v1` the one that ends it. */
export const cutover: Command = {
  usage: 'cutover',
  summary:
    'Exits with 0 if all requests together are proven at the target and each operation was seen to work often enough, 1 with the reasons if not, 3 if a proxy cannot be asked or a replica has not reported.',
  flags: {
    ...verdictFlags,
    'each-min': {
      help: `How often each operation and kind of request must have been seen the same. Default: cutover.each of the proxy, ${EACH}`,
      value: 'COUNT',
    },
    ...scopeFlags,
    accounts: { help: 'Also print how the requests of each operation counted: the same, wrong, left out, unknown', switch: true },
    wait: { help: 'Ask again for this many seconds while a replica has not reported or comparisons are in progress', value: 'SECONDS' },
    json: { help: 'Print one JSON object', switch: true },
    ...junitFlag,
    ...tablesFlag,
    ...adminFlags,
    admin: { ...adminFlags.admin, help: `${adminFlags.admin?.help}. May be repeated: replicas are judged together`, more: true },
  },
  async run(flags, _, io) {
    const scope = { operations: textsOf(flags, 'operations'), clients: textsOf(flags, 'clients') }
    const operations = operationsOf(await io.tables())
    checkOperations(scope.operations, withV1Values(operations))
    const question = questionOf(flags)
    const each = eachOf(flags)
    const seconds = Number(textOf(flags, 'wait') ?? 0)
    if (!(seconds >= 0 && seconds <= 3600)) throw misuse('--wait must be a number of seconds from 0 to 3600.')
    const asked = await askUntilTold(() => askReplicas(flags, io), seconds * 1000)
    for (const { problem } of asked) if (problem !== undefined) io.err(problem)
    const terms = asked.find((one) => one.terms)?.terms ?? USUAL_TERMS
    const answer = answerOf(asked, scope, {
      ...question,
      operations,
      terms: { ...terms, ...(each !== undefined && { each }), now: Date.now() },
    })
    const isKnown = asked.some(({ replica }) => replica !== undefined)
    if (flags.json) io.text(JSON.stringify(answer, null, 2))
    else if (isKnown) for (const line of [...cutoverLines(answer), ...(flags.accounts ? accountLines(answer) : [])]) io.out(line)
    await writeJunit(flags, io, 'crosswalk cutover', () => junitOf(answer))
    if (answer.missing.length > 0 || asked.some(({ problem }) => problem !== undefined)) return UNREAD
    return answer.ready ? 0 : FAILED
  },
}

/** Milliseconds between two questions. */
const AGAIN_MS = 500

/** Asks again while something is missing that time may bring. A proxy that cannot be asked is no such thing. */
async function askUntilTold(ask: () => Promise<readonly AskedReplica[]>, withinMs: number): Promise<readonly AskedReplica[]> {
  for (const until = performance.now() + withinMs; ; await wait(AGAIN_MS)) {
    const asked = await ask()
    const isTold = missingIn(asked).length === 0 && !asked.some(({ isComparing }) => isComparing)
    if (isTold || performance.now() + AGAIN_MS > until) return asked
  }
}

function junitOf({ ready, operations, reasons, asked, missing }: CutoverAnswer): readonly JunitCase[] {
  const judged = operations.map((one): JunitCase => {
    const outcome = one.blocks ? 'failed' : markOf(one) === undefined ? 'passed' : 'skipped'
    return { name: one.operation, outcome, text: one.reason }
  })
  const unasked = [...asked.flatMap(({ problem }) => problem ?? []), ...missing].map((text): JunitCase => {
    return { name: 'every proxy was asked', outcome: 'unknown', text }
  })
  const isTold = ready || unasked.length > 0 || judged.some(({ outcome }) => outcome === 'failed')
  return [...judged, ...unasked, ...(isTold ? [] : [{ name: 'ready', outcome: 'failed', text: reasons.join(' ') } as const])]
}

/** One line for each operation that was compared, or could have been. */
function accountLines({ operations }: CutoverAnswer): readonly string[] {
  const counted = operations.flatMap(({ operation, evidence }) => (evidence ? [`  ${operation}: ${accountSentence(evidence)}.`] : []))
  return ['Uses in a diff mode, and where each of them went:', ...counted]
}

/** Returns what `--each-min` gives; undefined if it gives nothing. */
function eachOf(flags: Flags): number | undefined {
  const text = textOf(flags, 'each-min')
  if (text === undefined) return undefined
  if (flags.each) throw misuse('The flag --each-min says nothing with --each: leave one of them out.')
  const each = Number(text)
  if (Number.isSafeInteger(each) && each > 0) return each
  throw misuse(`each-min is ${JSON.stringify(text)} in the flag --each-min, but it must be a whole number from 1 on.`)
}

function answerOf(
  asked: readonly AskedReplica[],
  scope: CutoverScope,
  asks: Pick<CutoverQuestion, 'operations' | 'target' | 'withoutV1' | 'isStrict' | 'dismissed' | 'terms'>,
): CutoverAnswer {
  const fleets = onePerFleet(asked)
  const missing = missingIn(asked)
  const known = joinReplicas(fleets.flatMap(({ replica }) => replica ?? []))
  if (asked.every(({ replica }) => replica)) checkClients(scope.clients, known.clients)
  const { strangers, ...seen } = inScope(known, scope)
  const verdict = judgeCutover({ ...seen, strangers, ...asks })
  const unasked = asked.flatMap(({ problem }) => problem ?? [])
  const inTheWay = verdict.operations.flatMap(({ blocks, reason }) => (blocks ? [reason] : []))
  return {
    ...verdict,
    ...(unasked.length + missing.length > 0 && { ready: false, reasons: [...unasked, ...missing, ...inTheWay] }),
    scope,
    asked: asked.map(({ admin, problem, page }) => {
      return { admin, ...(problem !== undefined && { problem }), ...(page !== undefined && { page }) }
    }),
    strangers: Object.fromEntries(strangers),
    shared: known.shared,
    missing,
    rollouts: rolloutSentences(
      verdict.operations.map(({ operation }) => operation),
      known.rollouts,
    ),
    assumptions: assumptionsOf(scope, fleets, known.shared),
    accounts: Object.fromEntries(seen.evidence.map((one) => [one.operation, accountsOf(one)])),
  }
}
