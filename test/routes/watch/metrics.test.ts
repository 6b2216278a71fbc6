import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../../stage/proxy.ts'
import { answering, startUpstream, type Upstream } from '../../stage/upstream.ts'

let v2: Upstream
let proxy: TestProxy

beforeAll(async () => {
  v2 = await startUpstream((request, response, body) => {
    const missing = request.url?.includes('/missing')
    answering(missing ? { code: 5, message: 'no', details: [] } : { groups: [] }, missing ? 404 : 200)(request, response, body)
  })
  proxy = await startProxy({ 'upstream.v2': v2.url, 'log.level': 'silent' })
})

afterAll(async () => {
  await proxy.close()
  await v2.close()
})

const metrics = async () =>
  (await (await fetch(`${proxy.adminUrl}/metrics`)).text()).split('\n').filter((line) => line && !line.startsWith('#'))

/** The names and labels without values. */
const series = (lines: readonly string[]) => lines.map((line) => line.slice(0, line.lastIndexOf(' '))).sort()

const IDS = 3_000
const AT_ONCE = 50

/** Sends one request of every kind into which a client can put a word of its own. */
const askAll = async (word: string) => {
  const to = async (path: string, init: Parameters<typeof request>[1] = {}) => (await request(proxy.url + path, init)).body.dump()
  await to(`/iam/v1/groups/${word}`, { method: 'DELETE', headers: { authorization: `Bearer ${word}`, 'x-request-id': word } })
  await to(`/iam/v1/groups?id=${word}&${word}=${word}`)
  await to(`/iam/v1/${word}`)
  await to(`/${word}/${word}`, { headers: { 'user-agent': word } })
}

describe('the series', () => {
  it(`are as many after ${IDS} different ids as after one`, async () => {
    await askAll('0'.repeat(40))
    const before = series(await metrics())
    const words = Array.from({ length: IDS / 4 }, (_, at) => at.toString(16).padStart(40, '0'))
    for (let at = 0; at < words.length; at += AT_ONCE) await Promise.all(words.slice(at, at + AT_ONCE).map(askAll))
    expect(series(await metrics())).toEqual(before)
  }, 60_000)

  it('show the time and the results of calls to v2', async () => {
    const text = (await metrics()).join('\n')
    expect(text).toMatch(/crosswalk_v2_call_duration_seconds_count\{outcome="ok"\} [1-9]/)
  })

  it('show the state of the process', async () => {
    const text = (await metrics()).join('\n')
    expect(text).toMatch(/process_resident_memory_bytes [1-9]\d{6,}/)
    expect(text).toMatch(/process_cpu_seconds_total \d/)
    expect(text).toMatch(/crosswalk_event_loop_utilization [01]/)
    expect(text).toMatch(/process_open_fds [1-9]/)
  })

  it('show the expiry of the certificate', async () => {
    const [key, cert] = ['test/certificates/localhost.key', 'test/certificates/localhost.crt']
    const secure = await startProxy({ 'upstream.v2': v2.url, 'tls.key': key, 'tls.cert': cert })
    const text = await (await fetch(`${secure.adminUrl}/metrics`)).text()
    const [, seconds] = /crosswalk_certificate_expiry_seconds (\d+)/.exec(text) ?? []
    expect(Number(seconds)).toBeGreaterThan(Date.now() / 1000)
    await secure.close()
  })
})
