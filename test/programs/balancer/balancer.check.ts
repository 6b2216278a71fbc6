import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildCli } from '../../app/cli/built.ts'
import { until } from '../../stage/clocks.ts'
import { hasEdge, nginx, type RunningEdge, startEdge } from './edges.ts'
import { createProxy, exchange, journalOf, proxyEnvironment, type RestartableProxy, runLoad, startSandbox, writesIn } from './processes.ts'

describe('rolling', () => {
  const ORGANIZATION = '588391a69873a06cb99a4ed5a59102644f751ea4'
  const TOKEN = 'demo-owner'
  /** More requests than the start of nginx takes. */
  const IN_USE = 10

  describe.runIf(hasEdge(nginx)).each([1, 2])('two proxies of %i workers behind nginx', (workers) => {
    let sandbox: Awaited<ReturnType<typeof startSandbox>>
    let proxies: readonly [RestartableProxy, RestartableProxy]
    let running: RunningEdge | undefined
    let url: string

    beforeAll(async () => {
      const cli = buildCli()
      sandbox = await startSandbox(cli)
      const env = {
        ...proxyEnvironment(),
        CROSSWALK_UPSTREAM_V1: sandbox.url,
        CROSSWALK_UPSTREAM_V2: sandbox.url,
        CROSSWALK_LOG_LEVEL: 'error',
        CROSSWALK_WORKERS: String(workers),
      }
      proxies = [await createProxy(cli, env), await createProxy(cli, env)]
      await Promise.all(proxies.map((proxy) => proxy.start()))
      const crosswalk = [new URL(proxies[0].url).host, new URL(proxies[1].url).host] as const
      const services = { crosswalk, adminPort: 0, v1: new URL(sandbox.url).host }
      running = await startEdge(nginx, services, [[nginx.share(50), nginx.share(100)]])
      url = running.url
    })

    afterAll(async () => {
      await running?.stop()
      await Promise.all((proxies ?? []).map((proxy) => proxy.stop('SIGKILL')))
      await sandbox?.stop('SIGKILL')
    })

    it('have a configuration that nginx accepts without a warning', () => {
      expect(running?.checked.trim().split('\n')).toEqual([
        expect.stringMatching(/nginx\.conf syntax is ok$/),
        expect.stringMatching(/nginx\.conf test is successful$/),
      ])
    })

    it('restart one by one under load: no request fails, each write arrives once', async () => {
      const over = new AbortController()
      const options = { url, token: TOKEN, organization: ORGANIZATION, clients: 8, atLeast: 2000, until: over.signal }
      const running = runLoad(options)
      const exits = []
      for (const proxy of proxies) {
        await until(async () => (await proxy.metric('crosswalk_requests_total')) > IN_USE, 'it is in use')
        exits.push(await proxy.stop('SIGTERM'))
        await proxy.start()
        await until(async () => (await proxy.metric('crosswalk_requests_total')) > IN_USE, 'it is in use again')
      }
      over.abort()
      const { requests, failures, writes } = await running
      const received = writesIn(await journalOf(sandbox.url))
      console.log(`${requests} requests, ${writes.length} of them writes, ${failures.length} failed; exit codes ${exits.join(', ')}`)
      expect(failures).toEqual([])
      expect(exits).toEqual([0, 0])
      expect(writes.filter((mark) => received.get(mark) !== 1)).toEqual([])
      expect(requests).toBeGreaterThanOrEqual(2000)
    })

    it('do not resend a write when one dies, and send the next ones to the other', async () => {
      const { body } = await exchange(
        { url: `${url}/registry/v1/repos/${ORGANIZATION}`, method: 'POST', token: TOKEN },
        { name: 'survivor' },
      )
      const repo = `${url}/registry/v1/repos/${encodeURIComponent(JSON.parse(body).id)}`
      const hang = { match: 'PATCH /registry/v2/repos', delayMs: 30_000, times: 1 }
      await fetch(`${sandbox.url}/-/faults`, { method: 'POST', body: JSON.stringify(hang) })
      const cut = exchange({ url: repo, method: 'PUT', token: TOKEN }, { name: 'survivor', description: 'cut' })
      const busy = await until(async () => {
        const inFlight = await Promise.all(proxies.map((proxy) => proxy.metric('crosswalk_requests_in_flight')))
        return proxies[inFlight.findIndex((count) => count > 0)]
      }, 'one of them has the write')
      await until(async () => writesIn(await journalOf(sandbox.url)).has('PATCH cut'), 'v2 has it')
      await busy.stop('SIGKILL')
      expect((await cut).status).toBe(502)
      for (const at of [1, 2, 3, 4]) {
        const { status } = await exchange({ url: repo, method: 'PUT', token: TOKEN }, { name: 'survivor', description: `after-${at}` })
        expect(status).toBe(200)
      }
      expect((await exchange({ url: repo, method: 'DELETE', token: TOKEN })).status).toBe(200)
      const received = writesIn(await journalOf(sandbox.url))
      expect(['PATCH cut', 'PATCH after-1', 'PATCH after-2', 'PATCH after-3', 'PATCH after-4'].map((mark) => received.get(mark))).toEqual([
        1, 1, 1, 1, 1,
      ])
    })
  })
})
