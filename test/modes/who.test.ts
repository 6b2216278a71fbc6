import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { type Client, productOf } from '../../src/migrate/clients.ts'
import { runCommand } from '../cli/support.ts'
import { startStage } from '../stage/stage.ts'

it.each([
  ['terraform-provider-chainguard/0.1.27 (linux; amd64) terraform/1.9', 'terraform-provider-chainguard/0.1.27'],
  ['curl/8.5.0', 'curl/8.5.0'],
  ['Mozilla/5.0 (X11; Linux x86_64)', 'Mozilla/5.0'],
  ['Go-http-client/1.1', 'Go-http-client/1.1'],
  ['grpc-go/1.60.1', 'grpc-go/1.60.1'],
  ['aws-sdk-go-v2/1.2.3-beta.4', 'aws-sdk-go-v2/1.2.3'],
  ['k8s.io', 'k8s.io'],
  ['okhttp', 'okhttp'],
  ['tool/v2.1', 'tool/2.1'],
  ['tool/9f8e7d6c5b4a39281706f5e4d3c2b1a0', 'tool'],
  ['ghp_16C7e42F292c6912E7710c838347Ae178B4a', undefined],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2VjcmV0', undefined],
  ['AKIAIOSFODNN7EXAMPLE9Z8Y7X6W5V/1', undefined],
  ['4f1c9e2a-7f3b-4a53-9f0e-2f5c1b7d8a90', undefined],
  ['someone@example.com', undefined],
  ['=cmd|calc', undefined],
  ['', undefined],
])('reads the product of %s', (header, product) => {
  expect(productOf(header)).toBe(product)
})

it('keeps no header that is no name of a program, and never more than 80 characters of one', () => {
  const hex = fc.stringMatching(/^[0-9a-f]{32,64}$/)
  const base64 = fc.uint8Array({ minLength: 24, maxLength: 48 }).map((bytes) => Buffer.from(bytes).toString('base64url'))
  fc.assert(
    fc.property(
      fc.oneof(
        hex,
        base64.filter((text) => (text.match(/[0-9]/g)?.length ?? 0) > 6),
      ),
      (secret) => productOf(secret) === undefined,
    ),
  )
  fc.assert(fc.property(fc.string({ maxLength: 300 }), (header) => /^[\w.+-]{1,60}(?:\/[\d.]{1,17})?$/.test(productOf(header) ?? 'none')))
})

it('tells the product and the name of a client everywhere, and takes another name while it serves', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-who-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'records.ndjson')
  const stage = await startStage({ 'records.file': file })
  const ask = (agent: string, path = '/iam/v1/groups') => stage.request('GET', path, { headers: { 'user-agent': agent } })
  await ask('terraform-provider-x/1.2 (secret-of-alice)')
  for (const nth of [1, 2, 3, 4, 5, 6]) await ask(`tool${nth}/1.0`)
  await stage.settled()
  const clients = async () => (await (await fetch(`${stage.server.adminUrl}/clients`)).json()) as readonly Client[]
  const [client] = await clients()
  expect(client?.agents).toEqual(['terraform-provider-x/1.2', 'tool1/1.0', 'tool2/1.0', 'tool3/1.0'])
  expect(client?.name).toBeUndefined()

  const { caller = '' } = client ?? {}
  expect(stage.server.reload({ 'clients.names': { [caller]: 'Terraform of ops' } })).toBeUndefined()
  expect((await clients())[0]?.name).toBe('Terraform of ops')
  const run = (...argv: readonly string[]) => runCommand(['clients', ...argv, '--admin', stage.server.adminUrl])
  const listed = (await run()).out
  expect(listed).toContain(`${caller} Terraform of ops  could call v2 itself`)
  expect(listed).toContain('  calls itself terraform-provider-x/1.2, tool1/1.0')
  const csv = (await run('--csv')).out.split('\r\n')
  expect(csv[0]).toMatch(/,agents,name$/)
  expect(csv[1]).toMatch(/,terraform-provider-x\/1\.2 tool1\/1\.0 .*,Terraform of ops$/)
  const guide = await run('Terraform of ops', '--guide')
  expect(guide.out).toContain('# Move Terraform of ops from v1 to v2')
  expect(guide.out).toContain(`(\`${caller}\`), which calls itself \`terraform-provider-x/1.2\` and \`tool1/1.0\``)
  const report = (await (await fetch(`${stage.server.adminUrl}/report.json`)).json()) as { readonly clients: readonly Client[] }
  expect(report.clients[0]).toMatchObject({ name: 'Terraform of ops', agents: client?.agents })

  await stage.close()
  const written = readFileSync(file, 'utf8')
  expect(written).toContain('"agents":["terraform-provider-x/1.2"')
  expect(written).not.toContain('secret-of-alice')
  const again = await startStage({ 'records.file': file, 'clients.names': { [caller]: 'Terraform' } })
  onTestFinished(() => again.close())
  const [restored] = (await (await fetch(`${again.server.adminUrl}/clients`)).json()) as readonly Client[]
  expect([restored?.name, restored?.agents]).toEqual(['Terraform', client?.agents])
})

it.each([['3f2a='], ['=Terraform'], ['Terraform']])('refuses %s as names of clients', async (given) => {
  const { code, err } = await runCommand(['serve', '--check', '--upstream-v2', 'http://127.0.0.1:1', '--clients-names', given])
  expect([code, err]).toEqual([2, expect.stringMatching(/^clients\.names.* must be an object of hashes and names/)])
})
