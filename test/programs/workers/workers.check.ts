import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import tls from 'node:tls'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { startOwnTime, until } from '../../stage/clocks.ts'
import { hasProgram, temporaryFolder } from '../../stage/programs.ts'
import { exchange } from '../balancer/processes.ts'
import { isAlive, read, readUntil, type ServedByWorkers, startWorkers } from './served.ts'

const READS = 400
/** More writes than any machine needs for that many files. */
const MOST = 8000

/** Waits until the death of one worker is seen, and another has taken its place. */
async function replaced({ metric }: ServedByWorkers): Promise<void> {
  await until(async () => (await metric('crosswalk_worker_deaths_total')) === 1, 'the death is seen')
  await until(async () => (await metric('crosswalk_workers')) === 2, 'it is replaced')
}

/** A folder that is removed at the end of the test. */
function folderOfTest(): string {
  const { path, remove } = temporaryFolder('workers')
  onTestFinished(remove)
  return path
}
const ORGANIZATION = '588391a69873a06cb99a4ed5a59102644f751ea4'

describe('two workers', () => {
  it('count each request once in one /metrics, whichever of them served it, and after one was killed', async () => {
    const proxy = await startWorkers(inject('cli'))
    const over = new AbortController()
    const reading = readUntil(proxy.url, 8, over.signal)
    await until(async () => (await proxy.metric('crosswalk_requests_total')) > READS, 'they serve')
    over.abort()
    const { answered, failures } = await reading
    expect(failures).toEqual([])
    expect(await proxy.metric('crosswalk_requests_total')).toBe(answered)
    expect(await proxy.metric('crosswalk_request_duration_seconds_count')).toBe(answered)
    const served = proxy.log().map((line) => JSON.parse(line).worker)
    expect(new Set(served)).toEqual(expect.objectContaining(new Set([1, 2])))
    const [victim = 0, survivor = 0] = proxy.workers()
    process.kill(victim, 'SIGKILL')
    const took = startOwnTime()
    await replaced(proxy)
    const tookMs = took()
    console.log(`a killed worker was replaced after ${Math.round(tookMs)} ms`)
    expect(tookMs).toBeLessThan(2000)
    expect(proxy.workers()).toContain(survivor)
    expect(proxy.workers()).not.toContain(victim)
    for (let nth = 0; nth < 10; nth += 1) expect(await read(proxy.url)).toBeUndefined()
    expect(await proxy.metric('crosswalk_requests_total')).toBe(answered + 10)
    expect(await proxy.stop('SIGTERM')).toBe(0)
  })

  it('write one record file: no line is lost in 25 renamings', async () => {
    const folder = folderOfTest()
    const proxy = await startWorkers(inject('cli'), {
      CROSSWALK_MODE: 'diff-v1',
      CROSSWALK_DIFF_PER_SECOND: '0',
      CROSSWALK_DIFF_WAITING: '10000',
      CROSSWALK_RECORDS_FILE: join(folder, 'records.ndjson'),
      CROSSWALK_RECORDS_BYTES: '1500',
      CROSSWALK_RECORDS_FILES: '1000',
      CROSSWALK_LOG_LEVEL: 'warn',
    })
    const create = async (nth: number) => {
      const request = { url: `${proxy.url}/registry/v1/repos/${ORGANIZATION}`, method: 'POST', token: 'demo-owner' }
      return (await exchange(request, { name: `record-${nth}` })).status
    }
    // Eight at a time come over several connections, so that both workers have some. A busy worker writes more lines at once, to fewer files.
    let made = 0
    while (made < MOST && (made < READS || readdirSync(folder).length <= 25)) {
      const eight = Array.from({ length: 8 }, (_, nth) => create(made + nth))
      expect(new Set(await Promise.all(eight))).toEqual(new Set([200]))
      made += 8
    }
    await until(async () => (await proxy.metric('crosswalk_comparison_jobs_total')) >= made, 'every write is looked at')
    expect(await proxy.stop('SIGTERM')).toBe(0)
    const files = readdirSync(folder)
    const lines = files.flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'))
    const entries = lines.map((line): { kind: string; id: string } => JSON.parse(line))
    console.log(`${entries.length} records in ${files.length} files`)
    expect(files.length).toBeGreaterThan(25)
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length)
    expect(entries.filter(({ kind }) => kind === 'would-send')).toHaveLength(made)
  })

  it('obey modes that were put at the one admin port, those that come later too', async () => {
    const proxy = await startWorkers(inject('cli'))
    const put = await fetch(`${proxy.adminUrl}/modes`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ default: 'v1' }),
    })
    expect(put.status).toBe(200)
    process.kill(proxy.workers()[0] ?? 0, 'SIGKILL')
    await replaced(proxy)
    for (let nth = 0; nth < 20; nth += 1) expect(await read(proxy.url)).toBeUndefined()
    const served = proxy.log().map((line): { worker?: number; mode?: string; msg: string } => JSON.parse(line))
    const modes = served.filter(({ msg }) => msg === 'request').map(({ worker, mode }) => `worker ${worker}: ${mode}`)
    expect(new Set(modes)).toEqual(new Set(['worker 1: v1', 'worker 2: v1']))
  })

  it('are replaced when their event loop stands', async () => {
    const proxy = await startWorkers(inject('cli'), { CROSSWALK_LOG_LEVEL: 'warn' })
    const [hung = 0, healthy = 0] = proxy.workers()
    process.kill(hung, 'SIGSTOP')
    const hungAt = performance.now()
    await until(async () => !isAlive(hung), 'it is killed')
    const tookMs = performance.now() - hungAt
    await until(async () => (await proxy.metric('crosswalk_workers')) === 2, 'it is replaced')
    console.log(`a worker that hung was killed after ${Math.round(tookMs)} ms`)
    expect(tookMs).toBeGreaterThan(9000)
    expect(proxy.workers()).toContain(healthy)
    expect(proxy.log().filter((line) => line.includes('has answered no ping for 10 seconds'))).toHaveLength(1)
    for (let nth = 0; nth < 4; nth += 1) expect(await read(proxy.url)).toBeUndefined()
  })

  it('are replaced one by one at SIGHUP, and no request is lost', async () => {
    const proxy = await startWorkers(inject('cli'), { CROSSWALK_LOG_LEVEL: 'info' })
    const over = new AbortController()
    const reading = readUntil(proxy.url, 8, over.signal)
    const before = proxy.workers()
    await until(async () => (await proxy.metric('crosswalk_requests_total')) > READS, 'they serve')
    process.kill(proxy.pid(), 'SIGHUP')
    await until(async () => proxy.log().some((line) => line.includes('the workers are replaced"')), 'they are replaced')
    over.abort()
    const { answered, failures } = await reading
    expect(failures).toEqual([])
    expect(proxy.workers().filter((pid) => before.includes(pid))).toEqual([])
    expect(await proxy.metric('crosswalk_requests_total')).toBe(answered)
    expect(await proxy.metric('crosswalk_worker_deaths_total')).toBe(0)
  })

  it.runIf(hasProgram('openssl'))('show another certificate without a restart', async () => {
    const folder = folderOfTest()
    const [key, cert] = [join(folder, 'tls.key'), join(folder, 'tls.crt')]
    copyFileSync('test/certificates/localhost.key', key)
    copyFileSync('test/certificates/localhost.crt', cert)
    const proxy = await startWorkers(inject('cli'), { CROSSWALK_TLS_KEY: key, CROSSWALK_TLS_CERT: cert })
    expect(await subjectOf(proxy.port)).not.toBe('another')
    const request = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9 -subj /CN=another'.split(' ')
    execFileSync('openssl', ['req', ...request, '-keyout', key, '-out', cert], { stdio: 'ignore' })
    await until(async () => proxy.log().some((line) => line.includes('the workers are replaced"')), 'they are replaced')
    for (let nth = 0; nth < 4; nth += 1) expect(await subjectOf(proxy.port)).toBe('another')
  })

  it('take live settings without being replaced, those that come later too', async () => {
    const folder = folderOfTest()
    const path = join(folder, 'crosswalk.yaml')
    writeFileSync(path, '')
    const proxy = await startWorkers(inject('cli'), { CROSSWALK_CONFIG: path })
    const before = proxy.workers()
    const statuses = async () => {
      const asked = Array.from({ length: 8 }, () =>
        fetch(`${proxy.url}/iam/v1/groups?zebra=1`, { headers: { connection: 'close', authorization: 'Bearer demo-owner' } }),
      )
      return new Set((await Promise.all(asked)).map(({ status }) => status))
    }
    expect(await statuses()).toEqual(new Set([200]))
    writeFileSync(path, 'unknownParameters: refuse\n')
    await until(async () => (await statuses()).has(400), 'a worker has it')
    await until(async () => !(await statuses()).has(200), 'all workers have it')
    expect(proxy.workers()).toEqual(before)
    const [victim = 0] = before
    process.kill(victim, 'SIGKILL')
    await replaced(proxy)
    expect(await statuses()).toEqual(new Set([400]))
  })

  it('end when they are asked to, even one that is still starting', async () => {
    const proxy = await startWorkers(inject('cli'))
    const [victim = 0] = proxy.workers()
    process.kill(victim, 'SIGKILL')
    await until(async () => proxy.workers().length === 2 && !proxy.workers().includes(victim), 'its successor starts')
    expect(await proxy.stop('SIGTERM')).toBe(0)
  })

  it('answer every connection that they accepted before they leave together', async () => {
    const proxy = await startWorkers(inject('cli'), { CROSSWALK_LINGER_MS: '1000' })
    const client = async (keepAlive: boolean) => {
      const agent = new http.Agent({ keepAlive, maxSockets: 1 })
      for (let answered = 0; ; answered += 1) {
        const problem = await read(proxy.url, agent)
        if (problem !== undefined) return { answered, problem }
      }
    }
    const clients = Promise.all(Array.from({ length: 8 }, (_, at) => client(at > 0)))
    await until(async () => (await proxy.metric('crosswalk_requests_total')) > READS, 'they serve')
    expect(await proxy.stop('SIGTERM')).toBe(0)
    const ends = await clients
    const lost = ends.filter(({ problem }) => !problem.startsWith('connect '))
    console.log(`${ends.reduce((sum, { answered }) => sum + answered, 0)} requests answered, ${lost.length} lost`)
    // The system may reset one that arrives in the instant in which the port closes.
    expect(lost.length).toBeLessThan(2)
  })

  it('end with their supervisor', async () => {
    const proxy = await startWorkers(inject('cli'))
    const workers = proxy.workers()
    expect(workers).toHaveLength(2)
    await proxy.stop('SIGKILL')
    await until(async () => !workers.some(isAlive), 'no worker is left')
    await proxy.start()
    expect(await read(proxy.url)).toBeUndefined()
  })

  it('end the process when five have died within a minute', async () => {
    const proxy = await startWorkers(inject('cli'))
    const ended = proxy.ended()
    for (let deaths = 0; deaths < 5; deaths += 1) {
      await until(async () => proxy.workers().length === 2 && (await proxy.metric('crosswalk_workers')) === 2, 'both listen')
      process.kill(proxy.workers()[0] ?? 0, 'SIGKILL')
      if (deaths < 4) await until(async () => (await proxy.metric('crosswalk_worker_deaths_total')) === deaths + 1, 'the death is seen')
    }
    expect(await ended).toBe(1)
    expect(proxy.log().at(-1)).toBe('Crosswalk ends: 5 workers ended within a minute, the last with signal SIGKILL.')
  })
})

it('ends the start with one sentence if the port is taken', async () => {
  const { port } = await startWorkers(inject('cli'))
  const flags = ['--workers', '2', '--upstream-v2', 'http://127.0.0.1:1', '--port', String(port), '--admin-port', '0']
  const { status, stderr } = spawnSync(process.execPath, [inject('cli'), 'serve', ...flags], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([1, `Port ${port} of 127.0.0.1 is taken; stop what listens there or choose another port (0 = any).\n`])
})

function subjectOf(port: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().subject.CN)
      socket.destroy()
    })
    socket.once('error', reject)
  })
}
