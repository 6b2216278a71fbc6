import { expect, test } from 'vitest'
import { running } from '../running.ts'

const { sandbox, get, post } = running({}, { fresh: true })

/** A token of an identity that may only list repos. */
const narrowToken = async (): Promise<string> => {
  const { organization } = sandbox()
  const role = (await post(`/iam/v2/roles/${organization}`, { name: 'repos', capabilities: ['CAP_REPO_LIST'] })).json
  const claimMatch = { issuer: sandbox().url, subject: 'narrow' }
  const identity = (await post(`/iam/v2/identities/${organization}`, { name: 'narrow', claimMatch })).json
  await post(`/iam/v2/roleBindings/${organization}`, { identityUid: identity.uid, roleUid: role.uid })
  return (await post('/-/token', { identity: identity.uid })).json.token
}

test('shows an empty catalog without libraries.artifacts.list', async () => {
  const token = await narrowToken()
  const rows = await get('/libraries/v2/artifacts?ecosystems=ECOSYSTEM_PYTHON', token)
  expect([rows.status, rows.json.totalCount]).toEqual([200, '0'])
  const counts = await get('/libraries/v2/artifacts/count?ecosystems=ECOSYSTEM_PYTHON', token)
  expect(counts.json.counts).toEqual([{ ecosystem: 'ECOSYSTEM_PYTHON', totalCount: '0' }])
  expect((await get('/libraries/v2/artifacts/python:requests/versions', token)).json.artifactVersions).toEqual([])
})

test('refuses a request without a token', async () => {
  expect((await get('/libraries/v2/artifacts?ecosystems=ECOSYSTEM_PYTHON', 'nobody')).status).toBe(401)
})
