import { createHash } from 'node:crypto'
import { many } from '../migrate/evidence/evidence.ts'
import type { Against, AgainstRow } from './against.ts'
import type { Replayed } from './summary/replayed.ts'

/** SARIF 2.1.0 (OASIS), as far as it is written. */
export interface SarifLog {
  readonly $schema: string
  readonly version: '2.1.0'
  readonly runs: readonly object[]
}

/** One finding about an operation or a path. */
interface Finding {
  readonly rule: string
  readonly subject: string
  readonly times: number
  readonly message: string
}

type Level = 'error' | 'warning' | 'note'

interface Rule {
  readonly level: Level
  readonly text: string
}

/** The rules that hold for every API. Each declared difference is a rule of its own. */
const RULES: Readonly<Record<string, Rule>> = {
  'v1-only': { level: 'warning', text: 'Only a v1 service can answer this operation.' },
  unknown: { level: 'warning', text: 'The tables of v1 do not have this path or method.' },
  refused: { level: 'warning', text: 'The request is refused before v2 is asked, because its query or its body is wrong.' },
  mismatch: { level: 'error', text: 'v1 and v2 answered differently, and no difference is declared.' },
  error: { level: 'error', text: 'One side failed.' },
  transient: { level: 'warning', text: 'v1 and v2 answered differently for a while.' },
  inconclusive: { level: 'note', text: 'The answers could not be compared.' },
  expected: { level: 'note', text: 'v1 and v2 answered differently, as is declared.' },
}

/** Says what recorded traffic would meet: what is not served, and the declared differences of each operation. */
export function replaySarif(replayed: Replayed, file: string): SarifLog {
  const seen = new Map(replayed.differences.map((one) => [one.code, one.seen]))
  const findings = [
    ...replayed.operations.flatMap(({ operation, kind, requests, refused, differences, because = '' }): Finding[] => [
      ...(kind === 'v1-only'
        ? [finding('v1-only', operation, requests, `${many(requests, 'request')} of ${operation} need v1: ${because}`)]
        : []),
      ...(refused > 0 ? [finding('refused', operation, refused, `${many(refused, 'request')} of ${operation} are refused.`)] : []),
      ...differences.map((code) =>
        finding(code, operation, requests, `${many(requests, 'request')} of ${operation}: ${seen.get(code) ?? code}`),
      ),
    ]),
    ...replayed.unknown.map(({ method, path, why, requests }) => {
      const subject = `${method} ${path}`.trim()
      return finding('unknown', subject, requests, `${many(requests, 'request')} to ${subject}: ${why}.`)
    }),
  ]
  const declared = replayed.differences.map(({ code, seen }): [string, Rule] => [code, { level: 'note', text: seen }])
  return logOf(findings, { ...Object.fromEntries(declared), ...RULES }, file)
}

/** Says what differed when the reads of recorded traffic were sent to both sides. Reads of one operation and outcome are one finding. */
export function againstSarif({ rows }: Against, file: string): SarifLog {
  const groups = new Map<string, AgainstRow[]>()
  for (const row of rows.filter(({ outcome }) => outcome in RULES)) {
    const key = `${row.outcome} ${row.operation}`
    groups.set(key, [...(groups.get(key) ?? []), row])
  }
  return logOf([...groups.values()].flatMap(findingOf), RULES, file)
}

function findingOf(rows: readonly AgainstRow[]): readonly Finding[] {
  const [first] = rows
  if (!first) return []
  const what = rows.flatMap(({ differences, reason = '' }) => (differences.length > 0 ? differences : [reason]))
  const told = [...new Set(what)].filter((one) => one !== '').join(', ')
  const message = `${many(rows.length, 'read')} of ${first.operation}: ${told || (RULES[first.outcome]?.text ?? '')}`
  return [finding(first.outcome, first.operation, rows.length, message)]
}

function finding(rule: string, subject: string, times: number, message: string): Finding {
  return { rule, subject, times, message }
}

function logOf(findings: readonly Finding[], rules: Readonly<Record<string, Rule>>, file: string): SarifLog {
  const ids = [...new Set(findings.map(({ rule }) => rule))]
  const driver = {
    name: 'Crosswalk',
    rules: ids.map((id) => ({
      id,
      shortDescription: { text: rules[id]?.text ?? id },
      defaultConfiguration: { level: rules[id]?.level ?? 'note' },
    })),
  }
  const results = findings.map(({ rule, subject, times, message }) => ({
    ruleId: rule,
    ruleIndex: ids.indexOf(rule),
    level: rules[rule]?.level ?? 'note',
    message: { text: message },
    occurrenceCount: times,
    // The traffic is the file at hand. Code hosts show no result without one.
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: encodeURI(file.replaceAll('\\', '/')) }, region: { startLine: 1 } },
        logicalLocations: [{ fullyQualifiedName: subject, kind: 'function' }],
      },
    ],
    // It tells the same finding of two runs, whatever the numbers are.
    partialFingerprints: { 'crosswalk/v1': createHash('sha256').update(`${rule} ${subject}`).digest('hex') },
  }))
  return { $schema: SCHEMA, version: '2.1.0', runs: [{ tool: { driver }, results }] }
}

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'
