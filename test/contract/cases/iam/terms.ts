import * as make from '../../expect.ts'
import { items, ok, refused, same, shows, time, uid } from '../../expect.ts'
import type { Case } from '../../target.ts'

const TERMS = '/iam/v1/terms'

/** facts §3.10 */
export const terms: readonly Case[] = [
  shows('terms: accept and list', ['iam.terms.accept', 'iam.terms.list'], { roles: ['viewer', 'outsider'] }, async (api) => {
    const group = (await make.folder(api)).id
    const path = `${TERMS}/${group}`
    const before = items(await api.get(path)).length
    const ids = ['skills-tos.v1', 'sfdpa.v1']
    ok(api, await api.post(path, { document_ids: ids, group: 'ignored' }), { group, document_ids: ids })
    ok(api, await api.otherwise.post(path, { document_ids: ids }), { group, document_ids: ids })
    const rows = items(await api.get(path))
    same(rows.length, before + 2, 'acceptances')
    const row = rows.find((one) => api.member(one, 'doc_id') === 'sfdpa.v1')
    ok(api, { status: 200, type: null, body: row }, { doc_id: 'sfdpa.v1', accepted_by: uid, accepted_at: time })
    same(items(await api.get(`${TERMS}/${group.replaceAll('/', '%2F')}`)).length, before + 2, 'encoded')
    same(items(await api.get(path, { limit: 1 })).length, 1, 'a window')
    await api.get(`${TERMS}/${group}/${'0'.repeat(16)}`)
    await api.post(`${TERMS}/${group}/${'0'.repeat(16)}`, { document_ids: ids })
    refused(await api.get(path, { limit: 1, page: 1 }), 3)
    refused(await api.post(path, { document_ids: ['no-such-terms'] }), 3)
    refused(await api.as('viewer').post(path, { document_ids: ids }), 7)
    refused(await api.as('outsider').get(path), 7)
    refused(await api.as('nobody').get(path), 16)
  }),
]
