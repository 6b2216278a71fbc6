import { CODES } from '../errors.ts'
import { queryText } from '../serve/upstream/exchange.ts'
import type { Explanation } from './explain.ts'
import type { PlannedCall } from './explore.ts'
import { inWords, replaceMarkers } from './marker.ts'
import { shellLines } from './shell.ts'

/** Writes an explanation as lines for a shell. All lines but commands are comments. */
export function textReport(base: string, explanation: Explanation): readonly string[] {
  const { operation, kind, v1Only, refusal, course } = explanation
  const head = [`# ${operation} (${kind})`]
  if (v1Only !== undefined)
    return [...head, `# only a v1 service can answer it: ${v1Only}`, '# it is passed on to upstream.v1 when that is set']
  const refused = refusal ? [`# v1 answers ${refusal.http} (code ${CODES[refusal.code].number}): ${words(refusal.message)}`] : []
  const open = explanation.openEnd ? ['# what v2 answers decides what comes next'] : []
  return [...head, ...remarks(explanation), ...refused, ...otherwise(course), ...shellLines(base, course), ...open]
}

function otherwise({ otherwise }: Explanation['course']): readonly string[] {
  if (!otherwise) return []
  const { member, value, error } = otherwise
  const is = `${member.path} of call ${member.call} is not ${JSON.stringify(value)}`
  return [`# when ${is}, v1 answers ${error.http} (code ${CODES[error.code].number}): ${words(error.message)}`]
}

function remarks(explanation: Explanation): readonly string[] {
  const { masks, droppedParameters, droppedMembers, unknowable, v1First, differences } = explanation
  const members = droppedMembers.map(({ member, because }) => `${member} (${because})`)
  return [
    ...remark('mask', masks.map(words)),
    ...remark('dropped parameters', droppedParameters),
    ...remark('dropped body members', members),
    ...unknowable.map((what) => `# cannot be known: ${what}`),
    ...(v1First ? ['# with upstream.v1 set, v1 answers it unless a rule of modes names it or emulated is v2'] : []),
    ...remark('differences', differences),
  ]
}

function remark(title: string, items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [`# ${title}: ${items.join(', ')}`.replaceAll('\n', ' ')]
}

/** Returns the same as data. Values that only an answer of v2 contains are written `<member of call n>`. */
export function jsonReport(base: string, explanation: Explanation) {
  const { operation, kind, masks, v1Only, v1First, refusal, course } = explanation
  const { droppedParameters, droppedMembers, unknowable, differences } = explanation
  return {
    operation,
    kind,
    ...(v1Only !== undefined && { v1Only }),
    ...(v1First && { v1First }),
    ...(refusal && { refusal: { status: refusal.http, code: CODES[refusal.code].number, message: words(refusal.message) } }),
    ...(explanation.openEnd && { openEnd: true as const }),
    calls: course.calls.map((planned) => callReport(base, planned)),
    masks: masks.map(words),
    droppedParameters,
    droppedMembers,
    unknowable,
    differences,
  }
}

/** Returns one planned call as data. */
export function callReport(base: string, { number, call, each, guard, branches }: PlannedCall) {
  const condition =
    guard && `${guard.member.path} of call ${guard.member.call} ${guard.equal ? 'is' : 'is not'} ${words(JSON.stringify(guard.value))}`
  return {
    number,
    ...plain(base, call),
    ...(each && { each }),
    ...(condition !== undefined && { only: condition }),
    ...(branches.length > 0 && { branches: branches.map(({ when, calls }) => ({ when, calls: calls.map((made) => plain(base, made)) })) }),
  }
}

function plain(base: string, { method, path, query, body }: PlannedCall['call']) {
  const search = queryText({ query })
  const url = words(`${base}${path}${search && `?${search}`}`)
  return { method, url, ...(body !== undefined && { body: JSON.parse(words(JSON.stringify(body))) }) }
}

/** Returns the text with words in place of values that nobody knows yet. */
export function words(text: string): string {
  return replaceMarkers(text, inWords)
}
