import { AssertionError } from 'node:assert'
import { inspect } from 'node:util'
import type { Api } from './api.ts'
import { mismatches } from './match.ts'
import { type Shape, spell, spellingOf } from './spell.ts'
import type { Answer } from './target.ts'

/** Expects HTTP 200 with exactly this body, written in proto names and compared in the API's dialect. Returns the body. */
export function ok(api: Api, answer: Answer, shape: Shape): Answer['body'] {
  if (answer.status !== 200) fail(answer, [`HTTP ${answer.status} instead of 200`])
  const wrong = mismatches(answer.body, spell(shape, spellingOf(api.dialect), api.dialect === 'specification'))
  if (wrong.length > 0) fail(answer, wrong)
  return answer.body
}

/** HTTP statuses of the codes that cases expect (facts §15). */
const STATUS: Readonly<Record<number, number>> = { 3: 400, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409, 12: 501, 16: 401 }

/** Expects an error body with this code, its HTTP status, a message (a text or a pattern) and a list of details. */
export function refused(answer: Answer, code: number, message?: string | RegExp): void {
  const wrong: string[] = []
  if (answer.status !== STATUS[code]) wrong.push(`HTTP ${answer.status} instead of ${STATUS[code]}`)
  const names = typeof answer.body === 'object' && answer.body !== null ? Object.keys(answer.body).sort().join() : ''
  if (names !== 'code,details,message') wrong.push(`members ${names || 'none'} instead of code, message, details`)
  if (answer.body?.code !== code) wrong.push(`code ${answer.body?.code} instead of ${code}`)
  if (!Array.isArray(answer.body?.details)) wrong.push('details is not a list')
  const said = String(answer.body?.message)
  if (typeof message === 'string' ? said !== message : message && !message.test(said))
    wrong.push(`message ${inspect(said)}, not ${message}`)
  if (wrong.length > 0) fail(answer, wrong)
}

/** Compares any two values as shapes. */
export function same(actual: unknown, expected: unknown, what: string): void {
  const wrong = mismatches(actual, expected)
  if (wrong.length > 0) throw new AssertionError({ message: `${what}: ${wrong.join('; ')}`, actual, expected })
}

/** Returns the `items` of a list that answered HTTP 200. */
export function items(answer: Answer): Answer['body'][] {
  if (answer.status !== 200 || !Array.isArray(answer.body?.items)) fail(answer, ['is not a list answer'])
  return answer.body.items
}

/** Returns one member of every row. */
export function column(answer: Answer, name: string): unknown[] {
  return items(answer).map((row) => row[name])
}

function fail(answer: Answer, wrong: readonly string[]): never {
  throw new AssertionError({
    message: `${wrong.join('\n')}\nanswer: ${answer.status} ${inspect(answer.body, { depth: 6, breakLength: 140 })}`,
  })
}
