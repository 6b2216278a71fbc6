import vm from 'node:vm'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Comparison } from '../../src/migrate/records/record.ts'
import { caseText } from '../../src/tools/play-case.ts'
import { holds } from '../properties/check.ts'

/** Texts that try to end a comment, a string or a call, and to run. */
const hostile = fc.oneof(
  fc.constantFrom(
    '\nhit()\n//',
    '\r\nhit()//',
    '\u2028hit()\u2028',
    '*/hit()/*',
    "'+hit()+'",
    '"+hit()+"',
    `\`$\u007bhit()}\``,
    "\\'+hit()+\\'",
    '</script>',
    '__proto__',
    '\u202ehit()',
  ),
  fc.string({ unit: 'binary' }),
)
const json = fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' })
const anything = fc.oneof(hostile, json)

const records = fc.record({
  id: anything,
  at: hostile,
  request: fc.option(fc.record({ method: anything, url: anything }), { nil: undefined }),
  operation: anything,
  exhibit: fc.oneof(
    fc.record({
      dialect: anything,
      operation: anything,
      params: fc.dictionary(hostile, anything),
      query: anything,
      v1: anything,
      v2: anything,
    }),
    json.filter(Boolean),
  ),
  totals: fc.array(fc.record({ kind: anything, where: anything, count: anything })),
})

it('a hostile record becomes a test that only plays its values', () => {
  holds(records, (record) => {
    const text = caseText(JSON.parse(JSON.stringify(record)) as Comparison) ?? ''
    const [imports, rest] = [text.match(/^import .*$/gm), text.replaceAll(/^import .*$/gm, '')]
    expect(imports).toEqual([
      `import assert from 'node:assert/strict'`,
      `import { it } from 'node:test'`,
      `import { playCase } from 'crosswalk/case'`,
    ])
    const played: unknown[] = []
    const told: unknown[] = []
    let hits = 0
    vm.runInNewContext(rest, {
      hit: () => (hits += 1),
      it: (name: string, run: () => unknown) => told.push(name, run()),
      playCase: (exhibit: unknown) => played.push(exhibit),
      assert: { deepEqual: () => {} },
    })
    expect([hits, told.length, played.length]).toEqual([0, 2, 1])
    if (!JSON.stringify(record).includes('__proto__')) expect(JSON.stringify(played[0])).toBe(JSON.stringify(record.exhibit))
  })
})

it('a record whose operation is no text still becomes a test', () => {
  const record = { id: 1, at: [], operation: [{ toString: false }], exhibit: {}, totals: [] } as unknown as Comparison
  expect(caseText(record)).toContain('it("[{\\"toString\\":false}] as recorded [], 1", async')
})
