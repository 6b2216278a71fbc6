import { expect, test } from 'vitest'
import { startSandbox } from '../../../src/sandbox/start.ts'

const ORG = 'a'.repeat(40)

const FILE = {
  groups: [{ uid: ORG, name: 'example.com' }],
  advisories: [{ uid: `${ORG}/${'1'.repeat(16)}`, advisoryId: 'CGA-1', events: [{ author: 'a', fixed: { fixedVersion: '1' } }] }],
  documents: [{ id: 'openssl', advisories: [{ id: 'CGA-1', aliases: ['CVE-1'] }] }],
  vulnerabilityMetadata: [{ id: 'CVE-1', severities: [{ type: 'TYPE_CVSS_V3', score: '9.8' }] }],
  artifacts: [{ uid: 'python:one', name: 'one', ecosystem: 'ECOSYSTEM_PYTHON' }],
  artifactVersions: [{ uid: 'python:one:1', artifactUid: 'python:one', version: '1', sizeBytes: 5 }],
  subscriptions: [{ uid: `${ORG}/${'2'.repeat(16)}`, sink: 'https://localhost/' }],
}

test('accepts every collection of these domains', async () => {
  const sandbox = await startSandbox({ port: 0, data: FILE })
  const get = async (path: string): Promise<unknown> =>
    (await fetch(`${sandbox.url}${path}`, { headers: { authorization: `Bearer ${sandbox.tokens.owner}` } })).json()
  expect(await get('/vulnerabilities/v2/advisories')).toMatchObject({ advisories: [{ events: [{ fixed: { fixedVersion: '1' } }] }] })
  expect(await get('/advisory/v2/documents?cves=CVE-1')).toMatchObject({ documents: [{ id: 'openssl' }] })
  expect(await get('/advisory/v2/metadata')).toMatchObject({ vulnerabilityMetadata: [{ id: 'CVE-1' }] })
  expect(await get('/libraries/v2/artifacts?ecosystems=2')).toMatchObject({ artifacts: [{ uid: 'python:one' }] })
  expect(await get('/libraries/v2/artifacts/python:one/versions')).toMatchObject({ artifactVersions: [{ sizeBytes: '5' }] })
  expect(await get('/events/v2/subscriptions')).toMatchObject({ totalCount: '1' })
  await sandbox.close()
})

test('stops the start for a subscription without a group', async () => {
  const data = { ...FILE, subscriptions: [{ uid: `${'b'.repeat(40)}/${'2'.repeat(16)}`, sink: 'https://localhost/' }] }
  await expect(startSandbox({ port: 0, data })).rejects.toThrow(/^data: subscriptions\[0\]\.uid: /)
})
