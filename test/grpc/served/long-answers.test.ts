import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Config } from '../../../src/app/config/settings.ts'
import { ROWS_MEMORY } from '../../../src/tables/text/engine.ts'
import { startProxy } from '../../stage/proxy.ts'
import { answering, startUpstream, type Upstream } from '../../stage/upstream.ts'
import { type V1Client, v1Client } from './v1-client.ts'

/** Makes a list of groups a long answer of some 100 kB. A list of roles is short. */
const LONG = 'x'.repeat(100_000)
const uid = 'a'.repeat(40)

let upstream: Upstream
const ends: (() => unknown)[] = []

beforeAll(async () => {
  upstream = await startUpstream(answering({ groups: [{ uid, name: 'long', description: LONG }], roles: [{ uid, name: 'short' }] }))
})

afterAll(async () => {
  await Promise.all(ends.map((end) => end()))
  await upstream.close()
})

async function clientOf(limits: Partial<Config>): Promise<V1Client> {
  const proxy = await startProxy({ 'upstream.v2': upstream.url, ...limits })
  const client = v1Client(proxy.url, 'a-token')
  ends.push(client.close, () => proxy.close())
  return client
}

it('gives back the memory of long answers that clients have taken', async () => {
  // One answer may still be leaving when the next is made.
  const client = await clientOf({ 'limits.messagesBytes': 250_000 })
  for (const _ of '12345') expect(await client.call('iam.Groups/List')).toMatchObject({ code: status.OK })
})

it('refuses a long answer without room in limits.messagesBytes, and no short one', async () => {
  const client = await clientOf({ 'limits.messagesBytes': 80_000 })
  const refused = 'the long answers under way fill limits.messagesBytes; ask for a page, or ask again later'
  expect(await client.call('iam.Groups/List')).toMatchObject({ code: status.RESOURCE_EXHAUSTED, text: refused })
  expect(await client.call('iam.Roles/List')).toMatchObject({ code: status.OK })
})

it('uses the memory of rows again as soon as they are a message', async () => {
  const client = await clientOf({})
  const { message } = await client.call('iam.Groups/List')
  expect(message.items[0].description).toBe(LONG)
  // Memory of that size: what was given back last is taken first.
  expect(ROWS_MEMORY.take(LONG.length + 1000).toString('latin1')).toContain(LONG)
})
