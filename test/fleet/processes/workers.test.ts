import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { hasRedis, startRedis, type TestRedis } from '../../stage/redis.ts'
import { until } from '../../stage/until.ts'
import { read, startWorkers } from '../../workers/served.ts'

describe.runIf(hasRedis())('a worker that is replaced while Redis is down', () => {
  let redis: TestRedis
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis?.stop())

  it('serves by the modes that its supervisor knows', async () => {
    const proxy = await startWorkers(inject('cli'), { CROSSWALK_STORE_URL: redis.url })
    const put = await fetch(`${proxy.adminUrl}/modes`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', 'if-match': '*' },
      body: JSON.stringify({ default: 'v1' }),
    })
    expect(put.status).toBe(200)
    await redis.kill()
    const replaced = async (nth: number) => {
      process.kill(proxy.workers()[0] ?? 0, 'SIGKILL')
      await until(async () => (await proxy.metric('crosswalk_worker_deaths_total')) === nth, 'the death is seen')
      await until(async () => (await proxy.metric('crosswalk_workers')) === 2, 'it is replaced')
    }
    await replaced(1)
    await replaced(2)
    for (let nth = 0; nth < 20; nth += 1) expect(await read(proxy.url)).toBeUndefined()
    const served = proxy.log().map((line): { mode?: string; msg: string } => JSON.parse(line))
    expect(new Set(served.filter(({ msg }) => msg === 'request').map(({ mode }) => mode))).toEqual(new Set(['v1']))
    expect(served.map(({ msg }) => msg)).toContainEqual(expect.stringContaining('those of the supervisor'))
  })
})
