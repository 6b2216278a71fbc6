import { describe, expect, it } from 'vitest'
import { clientsCsv, clientsJson } from '../../../src/diff/clients/clients-report.ts'
import { toCsv } from '../../../src/diff/clients/csv.ts'
import { createInventory } from '../../../src/diff/clients/inventory.ts'
import { operations } from '../given.ts'

const eolTags = operations.find(({ id }) => id === 'registry.eol_tags.list')
const at = Date.UTC(2026, 0, 2, 3, 4, 5)

function inventory() {
  const made = createInventory(operations)
  made.use({ caller: 'aa', subject: 'alice' }, { operation: 'registry.repos.list', mode: 'v2', at })
  made.use({ caller: 'aa' }, { operation: 'registry.repos.list', mode: 'diff-v1', calls: 2, at: at - 5_000 })
  made.use({ caller: 'aa' }, { operation: 'registry.eol_tags.list', mode: 'v2', at: at + 1_000 })
  made.use({ caller: 'bb' }, { operation: 'registry.vuln_reports.list', mode: 'v1', calls: 9, at })
  made.mismatch('aa', 'registry.repos.list')
  made.mismatch('zz', 'registry.repos.list')
  return made
}

describe('the inventory', () => {
  it('knows caller, operation, count, time, mode, and what prevents a move', () => {
    const [bb, aa] = inventory().clients()
    expect(bb).toMatchObject({ caller: 'bb', calls: 9, couldMove: false, cautions: [] })
    expect(bb?.blockers).toEqual([expect.stringMatching(/^registry\.vuln_reports\.list: .+/)])
    expect(aa).toMatchObject({
      caller: 'aa',
      subject: 'alice',
      calls: 4,
      lastSeen: at + 1_000,
      mismatches: 1,
      couldMove: true,
      blockers: [],
      cautions: [`registry.eol_tags.list: ${eolTags?.because}`, 'registry.repos.list: 1 mismatch'],
      operations: [
        { operation: 'registry.repos.list', calls: 3, lastSeen: at, modes: ['diff-v1', 'v2'], mismatches: 1 },
        { operation: 'registry.eol_tags.list', calls: 1 },
      ],
    })
  })

  it('is bounded: later clients are counted together', () => {
    const made = createInventory(operations, 1)
    for (const caller of ['a', 'b', 'a', 'c']) made.use({ caller }, { operation: 'ping.ping.ping', mode: 'v2', at })
    expect(made.clients().map(({ caller, calls }) => [caller, calls])).toEqual([['a', 2]])
    expect(made.uncounted()).toBe(2)
    expect(made.traffic()).toEqual(new Map([['ping.ping.ping', 4]]))
  })

  it('is printed as CSV and JSON', () => {
    const clients = inventory().clients()
    const lines = clientsCsv(clients).split('\r\n')
    expect(lines[0]).toBe('caller,subject,operation,calls,last_seen,modes,mismatches,could_move,blockers,cautions')
    expect(lines[2]).toMatch(/^aa,alice,registry\.repos\.list,3,2026-01-02T03:04:05\.000Z,diff-v1 v2,1,yes,,/)
    expect(lines).toHaveLength(5)
    expect(JSON.parse(JSON.stringify(clientsJson(clients)))[0]).toMatchObject({
      caller: 'bb',
      lastSeen: '2026-01-02T03:04:05.000Z',
      operations: [{ lastSeen: '2026-01-02T03:04:05.000Z' }],
    })
  })
})

describe('CSV output', () => {
  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1'])('disarms the formula %j', (cell) => {
    expect(toCsv(['a'], [[cell]])).toBe(`a\r\n"'${cell}"\r\n`)
  })

  it('quotes cells that need it, and leaves numbers alone', () => {
    expect(toCsv(['a', 'b'], [['x,"y"\nz', -5]])).toBe('a,b\r\n"x,""y""\nz",-5\r\n')
  })
})
