import nock from 'nock'
import { differences } from '../../mappings/differences.ts'
import { mappings } from '../../mappings/index.ts'
import { createCompare } from '../../src/diff/compare/compare.ts'
import { createExpected } from '../../src/diff/judge/expected.ts'
import type { Exhibit } from '../../src/diff/records/exhibit.ts'
import type { DifferenceKind } from '../../src/tables/language/sign.ts'
import type { Answer } from '../../src/translate/answer.ts'
import { translated } from '../../src/translate/translated.ts'
import { bytesOf } from '../../src/translate/written.ts'
import { createPool } from '../../src/upstream/v2/pool.ts'
import { createSend } from '../../src/upstream/v2/send.ts'

const V2 = 'http://v2.test'

export interface Difference {
  readonly kind: DifferenceKind
  readonly where: string
  readonly count: number
}

/** Translates a recorded request while nock plays v2 from the record. Compares the answer with v1's, without declared differences. */
export async function playCase({ dialect, operation: id, params, query, v1, v2 }: Exhibit): Promise<readonly Difference[]> {
  const operation = mappings.flatMap(({ operations }) => operations).find((one) => one.id === id)
  if (!operation) throw new Error(`no operation ${id}`)
  for (const { path, status, body } of v2)
    nock(V2)
      .get(path)
      .query(true)
      .reply(status, body as nock.Body)
  const pool = createPool({ connections: 1, connectTimeoutMs: 1000, callTimeoutMs: 1000 })
  const sendFor = createSend({ pool, base: V2, answerBytes: 2 ** 26, keep: { entries: 1, ttlMs: 1 }, bulkCalls: 1 })
  const send = sendFor({ headers: {}, requestId: 'case', signal: new AbortController().signal, onCall: () => undefined })
  try {
    const request = { params, query: new Map(query), body: undefined }
    const answer = await translated(operation, request, send, settingsOf(dialect))
    const seen = {
      status: answer.status,
      headers: {},
      body: { kind: 'json' as const, value: sentValue(answer) },
    }
    const expectation = { status: v1.status, headers: {}, body: { kind: 'json' as const, value: v1.body } }
    const compared = createCompare(dialect)(operation, expectation, seen)
    if ('inconclusive' in compared) throw new Error(compared.inconclusive)
    const expected = createExpected(differences, Date.now)
    return counted(compared.findings.filter((finding) => expected.codeOf({ operation, request }, finding) === undefined))
  } finally {
    nock.cleanAll()
    await pool.destroy()
  }
}

const LIMITS = { callsPerRequest: 1000, parallelCalls: 1, bufferedRows: 1_000_000, rowsPerRequest: 1_000_000 }

function settingsOf(dialect: Exhibit['dialect']) {
  return {
    dialect,
    maskCase: 'snake',
    replaceMask: '*',
    readmes: true,
    notFound: 'empty',
    unknownParameters: 'drop',
    limits: LIMITS,
  } as const
}

/** The value as it is sent over the wire. */
function sentValue(answer: Answer): unknown {
  if ('body' in answer) return JSON.parse(JSON.stringify(answer.body))
  return 'written' in answer ? JSON.parse(Buffer.concat(bytesOf(answer.written)).toString()) : undefined
}

function counted(findings: readonly { readonly kind: DifferenceKind; readonly where: string }[]): readonly Difference[] {
  const counts = new Map<string, Difference>()
  for (const { kind, where } of findings) {
    const key = `${kind} ${where}`
    counts.set(key, { kind, where, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return [...counts.values()]
}
