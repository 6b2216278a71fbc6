import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cases } from '../../contract/cases/index.ts'
import { type Client, callOf, carried, grpcClient } from '../../contract/rpc/call.ts'
import { run } from '../../contract/run.ts'
import type { Role, Target } from '../../contract/target.ts'
import { isFull } from '../../sample.ts'
import { until } from '../../stage/clocks.ts'
import { type Stage, startStage } from '../../stage/stage.ts'
import { sizeOr } from '../faults/fuzz/hunt.ts'
import { connectNodeClient, curlClient, hasGrpcio, pythonClient, TRANSPORTS } from './clients.ts'

/** Cycles of one resource each: created, listed, replaced, deleted, and refused. */
const CYCLES = [
  'groups: a PUT replaces',
  'groups: refusals',
  'repos: a PUT replaces, and what was read can be written back',
  'roles: a PUT replaces',
  'identities: a PUT replaces what it carries',
  'role bindings: a PUT changes identity and role',
]

/** The number of cycles played with each client; CROSSWALK_CASES plays more, and CROSSWALK_SAMPLE=full all of them. */
const SAMPLE = isFull ? CYCLES.length : 1

/** Compresses every request. */
const GZIP = { 'grpc.default_compression_algorithm': 2 }

const CLIENTS: readonly (readonly [name: string, clientOf: (url: string) => Client])[] = [
  ['grpc-js with gzip', (url) => grpcClient(url, GZIP)],
  ...Object.entries(TRANSPORTS).map(
    ([name, transportOf]) => [`connect-node, ${name}`, (url: string) => connectNodeClient(url, transportOf)] as const,
  ),
  ['curl', curlClient],
  ...(hasGrpcio() ? [['grpcio with gzip', pythonClient] as const] : []),
]

const DEADLINE_MS = 150
const HANG_MS = 60_000

let stage: Stage

beforeAll(async () => {
  stage = await startStage({ v1: null, proxy: { 'v1.dialect': 'published' } })
})

afterAll(() => stage.close())

describe.each(CLIENTS)('%s', (name, clientOf) => {
  let client: Client

  beforeAll(() => {
    client = clientOf(stage.url)
  })

  afterAll(() => client.close())

  it('plays the cycle of each resource', async () => {
    // Each client begins with another cycle.
    const from = CLIENTS.findIndex(([known]) => known === name)
    const { url } = stage
    const { organization, tokens } = stage.sandbox
    const token = (role: Role) => tokens[role as keyof typeof tokens]
    const target: Target = { url, side: 'proxied', dialect: 'published', organization, token, run: `c${from}` }
    for (const cycle of [...CYCLES.slice(from % CYCLES.length), ...CYCLES.slice(0, from % CYCLES.length)].slice(0, sizeOr(SAMPLE))) {
      const one = cases.find((known) => known.name === cycle)
      if (!one) throw new Error(`there is no case ${cycle}`)
      expect([cycle, (await run(one, carried(target, client).target)).failure]).toEqual([cycle, undefined])
    }
  })

  it('reads errors: code, message and details', async () => {
    const call = callOf({ method: 'POST', path: `/iam/v1/rolebindings/${stage.sandbox.organization}` })
    const { body } = await client.call(call, stage.sandbox.tokens.owner)
    expect(body).toMatchObject({ code: 3, message: expect.stringMatching(/^Invalid argument: identity: /) })
    const violations = body.details.flatMap(({ fieldViolations = [] }: { fieldViolations?: { field: string }[] }) => fieldViolations)
    expect(violations.map(({ field }: { field: string }) => field).sort()).toEqual(['identity', 'role'])
  })

  it('gives up at its deadline', async () => {
    await stage.fault({ match: 'GET /iam/v2/roles', delayMs: HANG_MS, times: 1 })
    const { body } = await client.call(callOf({ method: 'GET', path: '/iam/v1/roles' }), stage.sandbox.tokens.owner, {
      timeoutMs: DEADLINE_MS,
    })
    expect(body.code).toBe(4)
    await stage.clearFaults()
  })

  // A line of JSON to Python and a process of curl have no way to cancel.
  it.runIf(/^(grpc-js|connect-node)/.test(name))('cancels a call, and v2 with it', async () => {
    await stage.clearJournal()
    await stage.fault({ match: 'GET /iam/v2/roles', delayMs: HANG_MS, times: 1 })
    const cancelled = () => stage.log.filter(({ grpcStatus }) => grpcStatus === 'CANCELLED').length
    const before = cancelled()
    const controller = new AbortController()
    const answer = client.call(callOf({ method: 'GET', path: '/iam/v1/roles' }), stage.sandbox.tokens.owner, { signal: controller.signal })
    await until(async () => (await stage.journal()).some(({ path }) => path === '/iam/v2/roles'))
    controller.abort()
    expect((await answer).body.code).toBe(1)
    await until(async () => cancelled() > before)
    await stage.clearFaults()
  })
})
