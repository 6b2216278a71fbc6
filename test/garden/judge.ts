import type { Entry } from './journal.ts'
import { headerOf } from './reading.ts'
import type { Row } from './rows.ts'
import type { Spoken } from './speak.ts'
import { echoIn, readCredential } from './tokens.ts'

/** A fault in an exchange. The words are the same for every row, so that two ways of the same row can be compared. */
export type Finding =
  | 'a hidden request was answered'
  | 'answers out of step'
  | 'more answers than requests'
  | 'bytes that are no answer'
  | 'no answer'
  | 'a hidden request arrived'
  | 'a request arrived twice'
  | 'a body arrived changed'
  | "somebody else's bytes arrived in a body"
  | 'bytes arrived that are no request'
  | 'a connection was used after a broken answer'
  | 'another client got a wrong answer'
  | "another client's credential arrived with a request of somebody else"
  | 'the proxy ended'

/** The results of reading bytes that are no request as one. Timing decides which of these a client or the journal sees. */
const READ_OUT_OF_A_BODY: ReadonlySet<Finding> = new Set([
  'a hidden request was answered',
  'a hidden request arrived',
  'answers out of step',
  'more answers than requests',
])

/** True if the row shows the same fault without Crosswalk. */
export function isAmong(found: ReadonlySet<Finding> | undefined, finding: Finding): boolean {
  if (!found || found.has(finding)) return found !== undefined
  return READ_OUT_OF_A_BODY.has(finding) && [...found].some((other) => READ_OUT_OF_A_BODY.has(other))
}

/** Names of the requests that a strict reader finds, in order, and of those that may follow. */
function namesOf({ nr, sent }: Row): { readonly owed: readonly string[]; readonly may: readonly (string | undefined)[] } {
  const owed = sent.requests.map(({ head }) => nameOf(head))
  if (!sent.last) return { owed, may: [] }
  const last = 'head' in sent.last && sent.last.head ? nameOf(sent.last.head) : undefined
  return { owed, may: sent.last.kind === 'waits' ? [last] : [last, `probe-${nr}`] }
}

const nameOf = (head: Parameters<typeof headerOf>[0]) => readCredential(headerOf(head, 'authorization')).id

/** The number of answers that a row must get. */
export const owedBy = ({ sent }: Row): number => sent.requests.length

/** The answers (from 0) to HEAD requests. */
export function headsOf({ sent }: Row): readonly number[] {
  const methods = sent.requests.map(({ head }) => head.method)
  const last = sent.last && 'head' in sent.last ? sent.last.head?.method : undefined
  return [...methods, last].flatMap((method, at) => (method === 'HEAD' ? [at] : []))
}

/** Compares the answers with the requests that were sent. */
export function judgeAnswers(row: Row, { answers, closed }: Spoken): readonly Finding[] {
  const { owed, may } = namesOf(row)
  const echoes = answers.map(echoIn)
  const isTunnel = answers.some(({ status }) => status === 101)
  const names = [...owed, ...may]
  const inStep = echoes.every((echo, at) => echo === undefined || names[at] === undefined || echo === names[at] || isLate(echo, at, names))
  const findings: readonly [Finding, boolean][] = [
    ['a hidden request was answered', echoes.some((echo) => echo?.startsWith('hidden-') === true && !owed.includes(echo))],
    ['answers out of step', !inStep || new Set(echoes.filter(Boolean)).size < echoes.filter(Boolean).length],
    ['more answers than requests', answers.length > names.length],
    ['bytes that are no answer', owed.length > 0 && answers.some(({ status }) => status === 0)],
    ['no answer', !closed && !isTunnel && answers.length < owed.length],
  ]
  return findings.flatMap(([finding, isSo]) => (isSo ? [finding] : []))
}

/** The odd request itself may be skipped, but never one that must be answered. */
function isLate(echo: string, at: number, names: readonly (string | undefined)[]): boolean {
  return echo.startsWith('probe-') && names.lastIndexOf(echo) === at + 1 && at + 1 === names.length - 1
}

/** Compares the requests of a row that arrived with those that were sent. */
export function judgeEntries(row: Row, entries: readonly Entry[]): readonly Finding[] {
  const bodies = bodiesOf(row)
  const hidden = `hidden-${row.nr}`
  const isSent = row.sent.requests.some(({ head }) => head.target.endsWith(`/${hidden}`))
  const seen = new Set<string>()
  return entries.flatMap((entry): readonly Finding[] => {
    const { id, head, body } = entry
    const isAgain = seen.has(id) && !isRepeatable(entry)
    seen.add(id)
    const findings: readonly [Finding, boolean][] = [
      ['a hidden request arrived', !isSent && (id === hidden || head.target.includes(`/${hidden}`))],
      ['a request arrived twice', isAgain],
      ['a body arrived changed', row.carrier !== 'translated' && !isRight(entry, bodies.get(id))],
      ["somebody else's bytes arrived in a body", /(victim|control)-/.test(body)],
    ]
    return findings.flatMap(([finding, isSo]) => (isSo ? [finding] : []))
  })
}

interface SentBody {
  readonly text: string
  /** False if the client did not send the whole body. */
  readonly whole: boolean
}

/** Bodies as a strict reader finds them, by the name of their request. */
function bodiesOf({ sent }: Row): ReadonlyMap<string, SentBody> {
  const { last } = sent
  const whole = sent.requests.map(({ head, body }): [string, SentBody] => [nameOf(head), { text: body, whole: true }])
  return new Map(last?.kind === 'waits' && last.head ? [...whole, [nameOf(last.head), { text: last.body, whole: false }]] : whole)
}

/** True if the body is the one that was sent, or its beginning if either is incomplete. A body of a GET may be omitted. */
function isRight({ head, body, whole }: Entry, sent: SentBody | undefined): boolean {
  if (!sent || (body === '' && (head.method === 'GET' || head.method === 'HEAD'))) return true
  return whole && sent.whole ? body === sent.text : sent.text.startsWith(body)
}

/** A read whose connection broke may be sent again. */
function isRepeatable({ head }: Entry): boolean {
  const { behaviour } = readCredential(headerOf(head, 'authorization'))
  return ['GET', 'HEAD', 'OPTIONS'].includes(head.method) && behaviour !== 'ok'
}
