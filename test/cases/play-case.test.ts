import { expect, it } from 'vitest'
import type { Exhibit } from '../../src/migrate/records/record.ts'
import { playCase } from '../../src/tools/play-case.ts'

const ROLE = { uid: 'a'.repeat(40), name: 'viewer', createTime: '2026-01-05T08:00:00Z', updateTime: '2026-01-05T08:00:00Z' }
const PATH = '/iam/v2/roles'

function exhibit(v2: Exhibit['v2'], name = 'viewer'): Exhibit {
  const times = { created_at: '2026-01-05T08:00:00Z', updated_at: '2026-01-05T08:00:00Z' }
  const body = { items: [{ id: ROLE.uid, name, description: '', capabilities: [], ...times }] }
  return { dialect: 'specification', operation: 'iam.roles.list', params: {}, query: [], v1: { status: 200, body }, v2 }
}

const page = (body: object, status = 200) => ({ method: 'GET', path: PATH, status, body })

it('finds no difference where v2 answers what v1 answered', async () => {
  expect(await playCase(exhibit([page({ roles: [ROLE], totalCount: '1' })]))).toEqual([])
})

it('counts each difference by its place', async () => {
  expect(await playCase(exhibit([page({ roles: [ROLE], totalCount: '1' })], 'editor'))).toEqual([
    { kind: 'value', where: '/items/*/name', count: 1 },
  ])
})

it('answers later pages from later answers of the record', async () => {
  const pages = [page({ roles: [], totalCount: '1', nextPageToken: 'page-1' }), page({ roles: [ROLE], totalCount: '1', skipped: 0 })]
  expect(await playCase(exhibit(pages))).toEqual([])
})

it('plays an error of v2', async () => {
  const refused = page({ code: 7, message: 'no', details: [] }, 403)
  expect(await playCase(exhibit([refused]))).toEqual([{ kind: 'status', where: '', count: 1 }])
})

it('names a call that the record lacks', async () => {
  await expect(playCase(exhibit([]))).rejects.toThrow(
    'The tables now ask GET /iam/v2/roles, and the record has no answer to it: record the mismatch again.',
  )
})

it('names an operation that the tables lack', async () => {
  await expect(playCase({ ...exhibit([]), operation: 'iam.rolls.list' })).rejects.toThrow('The tables have no operation iam.rolls.list')
})

it('plays with the tables that it is given', async () => {
  await expect(playCase(exhibit([]), { mappings: [], differences: [] })).rejects.toThrow('The tables have no operation iam.roles.list')
})
