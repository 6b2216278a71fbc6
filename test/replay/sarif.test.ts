import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { beforeAll, describe, expect, it } from 'vitest'
import { junitText } from '../../src/tools/markup.ts'
import { againstJunit, againstSarif } from '../../src/tools/replay/against.ts'
import { runCommand } from '../cli/support.ts'
import { file, logLine } from './files.ts'
import { SARIF } from './sarif-schema.ts'

let isValid: ValidateFunction

beforeAll(() => {
  const ajv = new Ajv()
  addFormats.default(ajv)
  isValid = ajv.compile(SARIF)
})

interface Log {
  readonly runs: readonly [{ readonly results: readonly Result[] }]
}

interface Result {
  readonly ruleId: string
  readonly level: string
  readonly occurrenceCount: number
  readonly locations: readonly { readonly logicalLocations: readonly { readonly fullyQualifiedName: string }[] }[]
}

const told = ({ runs: [{ results }] }: Log) =>
  results.map((one) => [one.ruleId, one.level, one.occurrenceCount, one.locations[0]?.logicalLocations[0]?.fullyQualifiedName])

describe('the findings in SARIF', () => {
  it('tell what is not served and which differences to expect, per operation', async () => {
    const path = await file(
      'access log.txt',
      [
        logLine(1, 'ci', 'GET /registry/v1/vuln_reports HTTP/1.1'),
        logLine(2, 'ci', 'GET /registry/v1/vuln_reports HTTP/1.1'),
        logLine(3, 'ci', 'GET /iam/v1/gruops HTTP/1.1', 404),
        logLine(4, 'ci', 'GET /iam/v1/groups?limit=ten HTTP/1.1', 400),
      ].join('\n'),
    )
    const target = await file('findings.sarif', '')
    const { code, out } = await runCommand(['replay', path, '--sarif', target])
    const log = JSON.parse(readFileSync(target, 'utf8'))
    isValid(log)
    expect({ code, wrong: isValid.errors, last: out.split('\n').at(-1) }).toEqual({ code: 0, wrong: null, last: `written to ${target}` })
    const found = told(log)
    expect(found).toContainEqual(['v1-only', 'warning', 2, 'registry.vuln_reports.list'])
    expect(found).toContainEqual(['unknown', 'warning', 1, 'GET /iam/v1/gruops'])
    expect(found).toContainEqual(['refused', 'warning', 1, 'iam.groups.list'])
    expect(found.some(([, level, , operation]) => level === 'note' && operation === 'iam.groups.list')).toBe(true)
  })

  it.each([
    ['no message', { message: undefined }],
    ['an unknown level', { level: 'fatal' }],
    ['a count of none', { occurrenceCount: 0 }],
    ['a rule below the first', { ruleIndex: -1 }],
    ['an unknown member', { severity: 'high' }],
    ['a place that is no URI', { locations: [{ physicalLocation: { artifactLocation: { uri: 'access log.txt' } } }] }],
    ['a line before the first', { locations: [{ physicalLocation: { artifactLocation: { uri: 'a' }, region: { startLine: 0 } } }] }],
  ])('would be noticed with %s', (_, change) => {
    const row = { operation: 'iam.roles.list', shape: 's', v1: 200, v2: 200, differences: ['value /items/*/name'] }
    const left = { writes: 0, forms: 0, repeated: 0, pageTokens: 0, v1Only: 0, other: 0, beyond: 0 }
    const log = JSON.parse(JSON.stringify(againstSarif({ rows: [{ ...row, outcome: 'mismatch' }], left }, 'stdin')))
    expect(isValid(log)).toBe(true)
    const [run] = log.runs
    const results = [{ ...run.results[0], ...change }]
    expect(isValid(JSON.parse(JSON.stringify({ ...log, runs: [{ ...run, results }] })))).toBe(false)
  })

  it('tell what differed when reads were sent', () => {
    const row = { operation: 'iam.roles.list', shape: 's', v1: 200, v2: 200, differences: ['value /items/*/name'] }
    const log = againstSarif(
      {
        rows: [
          { ...row, outcome: 'mismatch' },
          { ...row, outcome: 'mismatch', differences: ['missing /items/*/id'] },
          { ...row, outcome: 'match', differences: [] },
          { ...row, outcome: 'inconclusive', differences: [], reason: 'too long' },
        ],
        left: { writes: 0, forms: 0, repeated: 0, pageTokens: 0, v1Only: 0, other: 0, beyond: 0 },
      },
      'stdin',
    )
    isValid(log)
    expect(isValid.errors).toBeNull()
    expect(told(log as unknown as Log)).toEqual([
      ['mismatch', 'error', 2, 'iam.roles.list'],
      ['inconclusive', 'note', 1, 'iam.roles.list'],
    ])
    expect(JSON.stringify(log)).toContain('2 reads of iam.roles.list: value /items/*/name, missing /items/*/id')
  })
})

it('tells CI every read that was sent, as JUnit', async () => {
  const row = { operation: 'iam.roles.list', shape: 'iam.roles.list?name=<&"', v1: 200, v2: 200 }
  const left = {} as Parameters<typeof againstJunit>[0]['left']
  const cases = againstJunit({
    rows: [
      { ...row, outcome: 'match', differences: [] },
      { ...row, outcome: 'mismatch', differences: ['value /items/*/name\u0000'] },
      { ...row, outcome: 'race', differences: [], reason: 'a write came between' },
    ],
    left,
  })
  expect(cases.map(({ outcome }) => outcome)).toEqual(['passed', 'failed', 'skipped'])
  const text = junitText('crosswalk replay', cases)
  expect(text).toContain('<testsuite name="crosswalk replay" tests="3" failures="1" errors="0" skipped="1">')
  expect(text).toContain(
    'name="iam.roles.list?name=&lt;&amp;&quot;"><failure message="mismatch: HTTP 200 and 200, value /items/*/name\ufffd"/>',
  )
  expect(againstJunit({ rows: [], left })).toEqual([expect.objectContaining({ outcome: 'failed' })])
  expect(await runCommand(['replay', 'x', '--junit', 'y'])).toMatchObject({ code: 2, err: expect.stringContaining('--against') })
})
