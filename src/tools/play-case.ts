import { differences as declared } from '../../mappings/differences.ts'
import { mappings as builtIn } from '../../mappings/index.ts'
import { ApiError } from '../errors.ts'
import { createCompare } from '../migrate/compare/compare.ts'
import { createExpected, type Declaration } from '../migrate/compare/expected.ts'
import type { Comparison, Exhibit, Total } from '../migrate/records/record.ts'
import { type Answer, begin, bytesOf, type TranslateSettings, translated } from '../serve/answer.ts'
import { inTurns } from '../serve/bounds.ts'
import type { Send } from '../serve/calls.ts'
import { bodyOf } from '../serve/upstream/send.ts'
import type { Mapping } from '../tables/operation.ts'
import type { DifferenceKind } from '../tables/signs.ts'

/**
 * Writes a recorded mismatch as a test that Node's own runner plays: `node --test FILE`. v2 answers from the record, and v1's answer is
 * the expectation. The test passes while the tables still give these differences for these answers.
 * A record file may be hostile, so its content enters the test only as JSON values.
 */
export function caseText({ id, at, operation, request, exhibit, totals }: Comparison): string | undefined {
  if (!exhibit) return undefined
  const asked = request ? `: ${shown(request.method)} ${shown(request.url)}` : ''
  const differences = totals.filter(isUnexplained).map(({ kind, where, count }) => ({ kind, where, count }))
  return `// Texts that could be secrets are masked. Run it by: node --test FILE
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { playCase } from 'crosswalk/case'

it(${JSON.stringify(`${shown(operation)} as recorded ${shown(at)}, ${shown(id)}${asked}`)}, async () => {
  const differences = await playCase(${literal(exhibit).replaceAll('\n', '\n  ')})
  // Becomes empty when the tables are mended. A fault of v2 itself stays in its recorded answers.
  assert.deepEqual(differences, ${JSON.stringify(differences)})
})
`
}

/** Writes a value as JavaScript. `"__proto__": …` would be the prototype of the object, and no member; no text within holds it unescaped. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll('"__proto__":', '["__proto__"]:')
}

/** Returns a text. A hostile record may hold other values, and some of them cannot be converted. */
function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function isUnexplained({ code, noise }: Total): boolean {
  return code === undefined && !noise
}

/** Answers each call with the next recorded answer of its method and path, as if v2 had sent it. */
function playV2(recorded: Exhibit['v2']) {
  const left = [...recorded]
  const missing: string[] = []
  return {
    /** The calls that the record has no answer to. */
    missing,
    send: ((call, receiver) => {
      const at = left.findIndex(({ method, path }) => method === call.method && path === call.path)
      const [answer] = at < 0 ? [] : left.splice(at, 1)
      if (!answer) {
        missing.push(`${call.method} ${call.path}`)
        return receiver.failed(new ApiError('UNAVAILABLE', 'the record ends here'))
      }
      const body = Buffer.from(JSON.stringify(answer.body ?? {}))
      try {
        receiver.received(bodyOf(call, { status: answer.status, headers: [], pieces: [body], bytes: body.length }, CONTEXT))
      } catch (error) {
        receiver.failed(error as Error)
      }
    }) satisfies Send,
  }
}

const CONTEXT = { headers: {}, requestId: 'case', signal: new AbortController().signal, onCall: () => undefined }

/** How often two answers differ at one place, in table names: `{ kind: 'value', where: 'items.name', count: 2 }`. */
export interface PlayedDifference {
  readonly kind: DifferenceKind
  readonly where: string
  readonly count: number
}

/** The tables that a case is played with. */
export interface PlayedTables {
  readonly mappings: readonly Mapping[]
  readonly differences: readonly Declaration[]
}

/**
 * Translates a recorded request, with the recorded answers of v2, and compares the answer with v1's. Returns the differences that no
 * table declares: `[]` once the tables are mended. `crosswalk case ID` prints the call. Throws an Error that says what the record lacks.
 *
 *     import { playCase } from 'crosswalk/case'
 *     const differences = await playCase({ dialect: 'specification', operation: 'iam.roles.list', … })
 */
export async function playCase(
  { dialect, operation: id, params, query, v1, v2 }: Exhibit,
  { mappings, differences }: PlayedTables = { mappings: builtIn, differences: declared },
): Promise<readonly PlayedDifference[]> {
  const operation = mappings.flatMap(({ operations }) => operations).find((one) => one.id === id)
  if (!operation) throw new Error(`The tables have no operation ${id}: play the case with the tables that recorded it.`)
  const request = { params, query: new Map(query), body: undefined }
  const played = playV2(v2)
  const settings = { dialect, ...SETTINGS }
  const answer = await translated(operation, () => begin(operation, request, settings), played.send, settings)
  const [missing] = played.missing
  if (missing !== undefined && answer.status >= 400) {
    throw new Error(`The tables now ask ${missing}, and the record has no answer to it: record the mismatch again.`)
  }
  const seen = { status: answer.status, headers: {}, body: { kind: 'json' as const, value: sentValue(answer) } }
  const expectation = { status: v1.status, headers: {}, body: { kind: 'json' as const, value: v1.body } }
  const compared = await inTurns(createCompare({ dialect })(operation, expectation, seen))
  if ('inconclusive' in compared) throw new Error(`The answers cannot be compared: ${compared.inconclusive}.`)
  const expected = createExpected(differences, Date.now)
  return counted(compared.findings.filter((finding) => expected.codeOf({ operation, request }, finding) === undefined))
}

const SETTINGS: Omit<TranslateSettings, 'dialect'> = {
  maskCase: 'snake',
  replaceMask: '*',
  readmes: true,
  notFound: 'empty',
  unknownParameters: 'drop',
  limits: { callsPerRequest: 1000, parallelCalls: 1, bufferedRows: 1_000_000, rowsPerRequest: 1_000_000 },
}

/** The value as it is sent over the wire. */
function sentValue(answer: Answer): unknown {
  if ('body' in answer) return JSON.parse(JSON.stringify(answer.body))
  return 'text' in answer ? JSON.parse(Buffer.concat(bytesOf(answer.text)).toString()) : undefined
}

function counted(findings: readonly Pick<PlayedDifference, 'kind' | 'where'>[]): readonly PlayedDifference[] {
  const counts = new Map<string, PlayedDifference>()
  for (const { kind, where } of findings) {
    const key = `${kind} ${where}`
    counts.set(key, { kind, where, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return [...counts.values()]
}
