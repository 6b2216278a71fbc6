import { differences as declared } from '../../mappings/differences.ts'
import { mappings as builtIn } from '../../mappings/index.ts'
import { createCompare } from '../migrate/compare/compare.ts'
import { createExpected, type Declaration } from '../migrate/compare/expected.ts'
import type { Exhibit } from '../migrate/records/record.ts'
import { type Answer, bytesOf, type TranslateSettings, translated } from '../serve/answer.ts'
import type { Mapping } from '../tables/operation.ts'
import type { DifferenceKind } from '../tables/signs.ts'
import { playV2 } from './play-v2.ts'

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
  const answer = await translated(operation, request, played.send, settingsOf(dialect))
  const [missing] = played.missing()
  if (missing !== undefined && answer.status >= 400) {
    throw new Error(`The tables now ask ${missing}, and the record has no answer to it: record the mismatch again.`)
  }
  const seen = { status: answer.status, headers: {}, body: { kind: 'json' as const, value: sentValue(answer) } }
  const expectation = { status: v1.status, headers: {}, body: { kind: 'json' as const, value: v1.body } }
  const compared = createCompare({ dialect })(operation, expectation, seen)
  if ('inconclusive' in compared) throw new Error(`The answers cannot be compared: ${compared.inconclusive}.`)
  const expected = createExpected(differences, Date.now)
  return counted(compared.findings.filter((finding) => expected.codeOf({ operation, request }, finding) === undefined))
}

const LIMITS = { callsPerRequest: 1000, parallelCalls: 1, bufferedRows: 1_000_000, rowsPerRequest: 1_000_000 }

function settingsOf(dialect: Exhibit['dialect']): TranslateSettings {
  return {
    dialect,
    maskCase: 'snake',
    replaceMask: '*',
    readmes: true,
    notFound: 'empty',
    unknownParameters: 'drop',
    limits: LIMITS,
  }
}

/** The value as it is sent over the wire. */
function sentValue(answer: Answer): unknown {
  if ('body' in answer) return JSON.parse(JSON.stringify(answer.body))
  return 'written' in answer ? JSON.parse(Buffer.concat(bytesOf(answer.written)).toString()) : undefined
}

function counted(findings: readonly Pick<PlayedDifference, 'kind' | 'where'>[]): readonly PlayedDifference[] {
  const counts = new Map<string, PlayedDifference>()
  for (const { kind, where } of findings) {
    const key = `${kind} ${where}`
    counts.set(key, { kind, where, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return [...counts.values()]
}
