import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { type AdmissionLimits, createAdmission, type Refused } from '../../../src/serve/http/admission.ts'
import { bearer, startProxy } from '../../stage/proxy.ts'
import { startUpstream } from '../../stage/upstream.ts'

const NONE: AdmissionLimits = { requestsInFlight: 0, callerInFlight: 0, callerPerSecond: 0 }

function setUp(limits: Partial<AdmissionLimits>) {
  const refused: Refused[] = []
  let now = 0
  const admit = createAdmission(
    { ...NONE, ...limits },
    (why) => refused.push(why),
    () => now,
  )
  const wait = (ms: number) => {
    now += ms
  }
  const ask = (authorization?: string) => {
    const response = new EventEmitter()
    const error = admit({ headers: { authorization } } as IncomingMessage, response as unknown as ServerResponse)
    return { error, end: () => response.emit('close') }
  }
  return { refused, ask, wait }
}

it('goes by limits that change, also for callers that it knows', () => {
  const limits = { ...NONE }
  const admit = createAdmission(
    limits,
    () => {},
    () => 0,
  )
  const ask = () => admit({ headers: { authorization: 'a' } } as IncomingMessage, new EventEmitter() as unknown as ServerResponse)?.message
  expect([ask(), ask()]).toEqual([undefined, undefined])
  limits.callerPerSecond = 1
  expect([ask(), ask()]).toEqual([undefined, expect.stringContaining('limits.callerPerSecond (1)')])
  limits.callerPerSecond = 0
  expect(ask()).toBeUndefined()
  limits.requestsInFlight = 2
  expect(ask()).toContain('limits.requestsInFlight (2)')
  limits.requestsInFlight = 100
  limits.callerInFlight = 2
  expect([ask(), ask()]).toEqual([undefined, expect.stringContaining('limits.callerInFlight (2)')])
})

it('knows a caller by its credential, however that is spelled', () => {
  const { ask } = setUp({ callerInFlight: 2 })
  const spellings = ['Bearer t', 'bearer t', 'BEARER t', 'bEARER t', 'Bearer  t', 'Bearer\tt', 'Bearer t ']
  expect(spellings.map((one) => ask(one).error?.code)).toEqual([
    undefined,
    undefined,
    ...spellings.slice(2).map(() => 'RESOURCE_EXHAUSTED'),
  ])
  expect(ask('Basic t').error).toBeUndefined()
})

it('gives the place of a request without a credential to one with it', () => {
  let given = 1
  const giveUpOne = () => {
    given -= 1
    return given >= 0
  }
  const admit = createAdmission(
    { ...NONE, requestsInFlight: 1 },
    () => {},
    () => 0,
    giveUpOne,
  )
  const ask = (authorization?: string) => admit({ headers: { authorization } } as IncomingMessage, new EventEmitter() as never)?.code
  expect([ask(), ask(), ask('a'), ask('a')]).toEqual([undefined, 'UNAVAILABLE', undefined, 'UNAVAILABLE'])
})

it('keeps a quarter of the places for callers with a credential', () => {
  const { ask, refused } = setUp({ requestsInFlight: 8 })
  const first = Array.from({ length: 6 }, () => ask())[0]
  expect(ask().error?.message).toBe(
    'requests without a credential take their share of limits.requestsInFlight (8), three quarters; ask again later',
  )
  expect([ask('a').error, ask('b').error]).toEqual([undefined, undefined])
  expect(ask('c').error?.message).toContain('more than limits.requestsInFlight (8)')
  first?.end()
  expect(ask().error).toBeUndefined()
  expect(refused).toEqual(['overload', 'overload'])
})

describe('all callers together', () => {
  it('may have a number of requests in flight; the next one must retry', () => {
    const { ask, refused } = setUp({ requestsInFlight: 2 })
    const first = ask('a')
    ask('b')
    expect(ask('c').error).toMatchObject({
      code: 'UNAVAILABLE',
      message: 'more than limits.requestsInFlight (2) requests are under way; ask again later',
      headers: { 'retry-after': '1' },
    })
    first.end()
    expect(ask('c').error).toBeUndefined()
    expect(refused).toEqual(['overload'])
  })

  it('are unlimited with 0', () => {
    const { ask } = setUp({})
    expect(Array.from({ length: 5000 }, () => ask().error).filter(Boolean)).toEqual([])
  })
})

describe('one caller', () => {
  it('may have a number of requests in flight, whatever others do', () => {
    const { ask, refused } = setUp({ callerInFlight: 1 })
    const first = ask('Bearer a')
    expect(ask('Bearer b').error).toBeUndefined()
    expect(ask('Bearer a').error).toMatchObject({ code: 'RESOURCE_EXHAUSTED', headers: { 'retry-after': '1' } })
    first.end()
    expect(ask('Bearer a').error).toBeUndefined()
    expect(refused).toEqual(['caller-in-flight'])
  })

  it('may begin a number of requests a second, and as many at once after a pause', () => {
    const { ask, refused, wait } = setUp({ callerPerSecond: 2 })
    const asked = () => ask('Bearer a').error?.message
    expect([asked(), asked()]).toEqual([undefined, undefined])
    expect(asked()).toBe('this caller sends more than limits.callerPerSecond (2) requests a second; ask again later')
    expect(ask('Bearer b').error).toBeUndefined()
    wait(500)
    expect([asked() === undefined, asked() === undefined]).toEqual([true, false])
    wait(60_000)
    expect([1, 2, 3].map(() => asked() === undefined)).toEqual([true, true, false])
    expect(refused).toEqual(['caller-rate', 'caller-rate', 'caller-rate'])
  })

  it('is told the seconds to wait below one request a second', () => {
    const { ask } = setUp({ callerPerSecond: 1 })
    ask('Bearer a')
    expect(ask('Bearer a').error?.headers).toEqual({ 'retry-after': '1' })
  })
})

describe('over HTTP', () => {
  const open: { close(): Promise<void> }[] = []

  afterEach(async () => {
    for (const server of open.splice(0)) await server.close()
  })

  it.each(['/iam/v1/groups', '/iam/v2/groups'])(
    '%s: refuses the excess with 503 and Retry-After in v1’s form, and counts it',
    async (path) => {
      const held: (() => void)[] = []
      let arrived = () => {}
      const v2 = await startUpstream((_, response) => {
        held.push(() => void response.end('{"groups":[]}'))
        arrived()
      })
      const proxy = await startProxy({ 'upstream.v2': v2.url, 'limits.requestsInFlight': 1 })
      open.push(proxy, v2)
      const waiting = new Promise<void>((resolve) => {
        arrived = resolve
      })
      const first = fetch(proxy.url + path)
      await waiting
      const second = await fetch(proxy.url + path, { method: 'POST', body: '{}' })
      expect([second.status, second.headers.get('retry-after'), second.headers.get('content-type')]).toEqual([503, '1', 'application/json'])
      expect(await second.json()).toEqual({ code: 14, message: expect.stringContaining('limits.requestsInFlight (1)'), details: [] })
      expect((await fetch(`${proxy.adminUrl}/healthz`)).status).toBe(200)
      expect(await (await fetch(`${proxy.adminUrl}/metrics`)).text()).toContain('crosswalk_refused_total{reason="overload"} 1')
      for (const release of held) release()
      expect((await first).status).toBe(200)
      expect(v2.seen).toHaveLength(1)
    },
  )

  it('answers 429 to a caller beyond its rate, and answers other callers', async () => {
    const v2 = await startUpstream((_, response) => void response.end('{"groups":[]}'))
    const proxy = await startProxy({ 'upstream.v2': v2.url, 'limits.callerPerSecond': 1 })
    open.push(proxy, v2)
    const ask = async (token: string) => (await fetch(`${proxy.url}/iam/v1/groups`, { headers: bearer(token) })).status
    expect([await ask('a'), await ask('a'), await ask('b')]).toEqual([200, 429, 200])
  })
})
