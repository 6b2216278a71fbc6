import { mappings } from '../../mappings/index.ts'
import { type Compare, createCompare, type Finding, type SeenAnswer } from '../../src/migrate/compare/compare.ts'
import { createExpected, type Declaration } from '../../src/migrate/compare/expected.ts'
import { type AskedRequest, createJudge, createNoise, createSettle } from '../../src/migrate/compare/judge.ts'
import { atOnce, type Steps } from '../../src/serve/bounds.ts'
import { parseQuery } from '../../src/serve/request.ts'
import type { Operation } from '../../src/tables/operation.ts'

export const operations = mappings.flatMap((mapping) => mapping.operations)

export function operationOf(id: string): Operation {
  const found = operations.find((operation) => operation.id === id)
  if (!found) throw new Error(`no operation ${id}`)
  return found
}

/** Returns a request of an operation, with the query string as a client writes it. */
export function asked(operation: Operation | string, query = '', params: Readonly<Record<string, string>> = {}): AskedRequest {
  const found = typeof operation === 'string' ? operationOf(operation) : operation
  return { operation: found, request: { params, query: parseQuery(query), body: undefined } }
}

const comparing = createCompare({ dialect: 'specification' })

/** Does the steps of a function at once. */
const whole =
  <Given extends readonly unknown[], Result>(steps: (...given: Given) => Steps<Result>) =>
  (...given: Given) =>
    atOnce(steps(...given))

export const compare = whole(comparing)

export function seen(value: unknown, status = 200): SeenAnswer {
  return { status, headers: {}, body: { kind: 'json', value } }
}

/** Returns the findings of two bodies of an operation that both answered HTTP 200. */
export function findings(operation: string, v1: unknown, v2: unknown, by: Compare = comparing): readonly Finding[] {
  const compared = atOnce(by(operationOf(operation), seen(v1), seen(v2)))
  if ('inconclusive' in compared) throw new Error(compared.inconclusive)
  return compared.findings
}

/** Returns `kind at` of every finding, sorted. */
export function brief(found: readonly Finding[]): readonly string[] {
  return found.map(({ kind, at }) => `${kind} ${at}`).sort()
}

/** Creates a judge with its parts; nothing is learnt yet. */
export function court(declarations: readonly Declaration[] = [], now = () => 0) {
  const expected = createExpected(declarations, now)
  const noise = createNoise()
  const judge = createJudge(comparing, expected, noise)
  const steps = { compare: comparing, judge, settle: createSettle(judge, comparing, noise) }
  return { expected, noise, judge: whole(judge), settle: whole(steps.settle), steps }
}

export const ROOT_UID = 'a'.repeat(40)

/** Returns a uid directly below the root. */
export function child(nth: number): string {
  return `${ROOT_UID}/${nth.toString(16).padStart(16, '0')}`
}
