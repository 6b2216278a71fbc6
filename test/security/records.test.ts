import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { ALL_V2 } from '../../src/migrate/modes/rules.ts'
import { type Stage, startStage } from '../stage/stage.ts'

const directory = mkdtempSync(join(tmpdir(), 'crosswalk-secrets-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Secrets: one for each place of a request or an answer that may hold one. */
const SECRET = 'planted-7f3a9c'
const planted = (place: string) => `${SECRET}-${place}`

const jwt = [{ alg: 'RS256' }, { iss: 'https://issuer', sub: planted('subject') }].map((part) =>
  Buffer.from(JSON.stringify(part)).toString('base64url'),
)

const HEADERS = {
  cookie: `session=${planted('cookie')}`,
  'x-api-key': planted('header'),
  'proxy-authorization': `Basic ${planted('proxy')}`,
  'user-agent': planted('agent'),
  referer: `https://x/?token=${planted('referer')}`,
}

/** Sends requests with a secret in every possible place. */
async function plant(stage: Stage): Promise<void> {
  const { organization, tokens } = stage.sandbox
  const options = { headers: HEADERS, token: tokens.admin }
  const query = `?name=${planted('name')}&token=${planted('query')}&${planted('parameter')}=1`
  const body = {
    name: 'made',
    description: planted('description'),
    readme: planted('readme'),
    client_secret: planted('client-secret'),
    [planted('member')]: 1,
    custom_overlay: { environment: { [planted('key')]: planted('value') } },
    aliases: [`${planted('alias')}:latest`],
  }
  const made = await stage.request('POST', `/registry/v1/repos/${organization}${query}`, { ...options, body })
  await stage.settled()
  expect(made.status).toBe(200)
  await stage.request('PUT', `/registry/v1/repos/${made.body.id}${query}`, { ...options, body })
  await stage.settled()
  await stage.request('GET', `/registry/v1/repos${query}`, options)
  await stage.request('GET', '/registry/v1/repos', options)
  await stage.request('GET', `/registry/v1/repos?id=${made.body.id}&limit=${planted('limit')}`, options)
  await stage.request('GET', `/registry/v1/repos?id=${made.body.id}`, options)
  await stage.request('GET', `/registry/v1/repotagssummary/${planted('path')}`, options)
  await stage.request('POST', `/iam/v1/identityProviders/${organization}`, {
    body: { name: planted('provider'), oidc: { issuer: 'https://issuer', client_id: planted('client'), client_secret: planted('oidc') } },
  })
  await stage.request('GET', '/iam/v1/groups', { ...options, token: `${jwt.join('.')}.${planted('signature')}` })
  await stage.request('POST', `/iam/v1/groups/${organization}`, { body: planted('no-object') })
  await stage.request('GET', '/registry/v1/vuln_reports', { ...options, token: tokens.viewer })
  await stage.settled()
}

/** Returns everything that a person or a tool could read. */
async function outputs(stage: Stage, file: string): Promise<Record<string, string>> {
  const read = async (path: string) => (await fetch(stage.server.adminUrl + path)).text()
  const admin = await Promise.all(
    ['/modes', '/evidence', '/clients', '/comparisons', '/metrics', '/operations'].map(async (path) => [path, await read(path)]),
  )
  await stage.server.close()
  const records = readdirSync(directory)
    .filter((name) => name.startsWith(file))
    .map((name) => [name, readFileSync(join(directory, name), 'utf8')])
  return { ...Object.fromEntries([...admin, ...records]), log: JSON.stringify(stage.server.log) }
}

it.each(['diff-v1', 'diff-v2'] as const)('reveals no secret of a request in mode %s', async (mode) => {
  const file = `${mode}.ndjson`
  const stage = await startStage({ modes: { ...ALL_V2, default: mode }, 'records.file': join(directory, file) })
  // Every comparison must have a difference to show.
  await stage.fault({ match: 'GET /registry/v2/repos/', change: { at: '/description', to: planted('answer') } })
  await stage.fault({ match: 'GET /registry/v2/repos', change: { at: '/repos/*/description', to: planted('answer') } })
  await stage.fault({ match: 'GET /iam/v2/', status: 500 })
  await plant(stage)
  const told = await outputs(stage, file)
  await stage.sandbox.close()
  expect(told[file]?.split('\n').length).toBeGreaterThan(5)
  expect(told[file]).toContain('"outcome":"mismatch"')
  expect(told[file]).toMatch(mode === 'diff-v1' ? /"kind":"would-send"/ : /"check":"after-write"/)
  const credentials = Object.values(stage.sandbox.tokens)
  for (const [name, text] of Object.entries(told)) {
    // The log holds the requested path, which may contain anything from a client, and never its query.
    const looked = name === 'log' ? text.replaceAll(planted('path'), '') : text
    expect(`${name}: ${excerpt(looked, SECRET)}`).toBe(`${name}: `)
    for (const credential of credentials) expect(`${name}: ${excerpt(looked, credential)}`).toBe(`${name}: `)
  }
})

it('names subjects only where they are allowed', async () => {
  const stage = await startStage({ 'records.subjects': true })
  const identity = await (
    await fetch(`${stage.sandbox.url}/sts/exchange?aud=${stage.sandbox.url}`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-owner' },
    })
  ).json()
  await stage.request('GET', '/iam/v1/groups', { token: (identity as { token: string }).token })
  await stage.settled()
  const clients = (await (await fetch(`${stage.server.adminUrl}/clients`)).json()) as { subject?: string }[]
  expect(clients).toMatchObject([{ subject: expect.stringMatching(/^[0-9a-f]{40}/) }])
  await stage.close()
})

/** Returns the surroundings of a text; empty if it does not occur. */
function excerpt(text: string, secret: string): string {
  const at = text.indexOf(secret)
  return at < 0 ? '' : text.slice(Math.max(0, at - 100), at + 60)
}
