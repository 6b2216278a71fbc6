import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { ServerCredentials, status } from '@grpc/grpc-js'
import { beforeAll, expect, inject, it, onTestFinished } from 'vitest'
import { startStage } from '../../stage/stage.ts'
import { connect, startEcho, unary } from '../client.ts'

const CERT = 'test/certificates/localhost.crt'
const pair = { private_key: readFileSync('test/certificates/localhost.key'), cert_chain: readFileSync(CERT) }

let v2: string

beforeAll(async () => {
  const { address } = await startEcho(0, {}, ServerCredentials.createSsl(null, [pair]))
  v2 = `https://${address.replace('127.0.0.1', 'localhost')}`
})

it('answers UNAVAILABLE for an untrusted service behind TLS', async () => {
  const proxy = await startStage({ v1: null, v2 })
  const client = connect(proxy.url)
  expect((await unary(client, 'Unary', 'hello').answer).status.code).toBe(status.UNAVAILABLE)
  expect(await proxy.logged(() => true)).toMatchObject({ error: { cause: expect.stringContaining('self-signed certificate') } })
})

it('reaches a trusted service behind TLS', async () => {
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: CERT }
  const child = spawn(process.execPath, [inject('cli'), 'serve', '--upstream-v2', v2, '--port', '0', '--admin-port', '0'], { env })
  onTestFinished(() => void child.kill())
  const [line] = await once(child.stdout, 'data')
  const client = connect(/http:\S+/.exec(String(line))?.[0] ?? '')
  expect((await unary(client, 'Unary', 'hello').answer).messages.map(String)).toEqual(['hello'])
})
