import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { tables } from '../../../mappings/index.ts'
import {
  adminTokens,
  admissionLimits,
  callTimes,
  clientTimes,
  compatSettings,
  configWith,
  migrationSettings,
  retirement,
} from '../../../src/app/config/config.ts'
import { changedBetween, changeLive, whyRestart } from '../../../src/app/config/live.ts'
import { type Config, SETTING_KEYS, type SettingKey } from '../../../src/app/config/settings.ts'
import { verifiable } from '../../../src/migrate/observe/verify-write.ts'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { operationsOf } from '../../../src/tables/tables.ts'
import { until } from '../../stage/clocks.ts'
import { bearer, type Stage, startStage } from '../../stage/stage.ts'
import { answering, type Handler } from '../../stage/upstream.ts'

describe('live settings', () => {
  type Read = (config: Config) => () => unknown

  /** Other values of settings that a getter reads, and what must change with them. */
  const READ: Partial<Record<SettingKey, readonly [value: unknown, read: Read]>> = {
    'admin.token': ['x', (config) => () => adminTokens(config)],
    'admin.tokens': [[{ name: 'a', token: 'x' }], (config) => () => adminTokens(config)],
    'admin.readToken': ['x', (config) => () => adminTokens(config)],
    ...compat('v2.maskCase', 'camel', 'maskCase'),
    ...compat('v2.replaceMask', 'known', 'replaceMask'),
    ...compat('registry.readmes', false, 'readmes'),
    ...compat('errors.notFound', 'error', 'notFound'),
    ...compat('unknownParameters', 'refuse', 'unknownParameters'),
    ...limit('callsPerRequest'),
    ...limit('parallelCalls'),
    ...limit('bufferedRows'),
    ...limit('rowsPerRequest'),
    ...admission('requestsInFlight'),
    ...admission('callerInFlight'),
    ...admission('callerPerSecond'),
    'limits.callTimeoutMs': [7, partOf(callTimes, ({ callTimeoutMs }) => callTimeoutMs)],
    'limits.bodyTimeoutMs': [7, partOf(clientTimes, ({ bodyMs }) => bodyMs)],
    'limits.writeTimeoutMs': [7, partOf(clientTimes, ({ writeMs }) => writeMs)],
    'limits.streamBytes': [7, partOf(clientTimes, ({ streamBytes }) => streamBytes)],
    ...leaving('drainMs'),
    ...leaving('lingerMs'),
    ...leaving('shutdownMs'),
    'circuit.probePercent': [7, comparing(({ probePercent }) => probePercent)],
    'diff.learnEvery': [7, comparing(({ learnEvery }) => learnEvery)],
    'diff.perSecond': [7, comparing(({ perSecond }) => perSecond)],
    'diff.verifyWrites': [
      false,
      partOf(
        (config) => verifiable(operationsOf(tables), migrationSettings(config)),
        ({ canBeJudged }) => canBeJudged('iam.groups.create'),
      ),
    ],
    'diff.waiting': [7, comparing(({ queue }) => queue.waiting)],
    'diff.waitingBytes': [7, comparing(({ queue }) => queue.characters)],
    'clients.names': [{ a: 'x' }, comparing(({ names }) => names())],
    'diff.parallel': [7, comparing(({ queue }) => queue.parallel)],
    'cutover.each': [7, comparing(({ terms }) => terms().each)],
    'cutover.operations': [[{ operations: 'iam.*', target: 0.1 }], comparing(({ terms }) => terms().operations)],
  }

  /** Live settings that are not read through a getter, and what tests them. */
  const ELSEWHERE = ['modes', 'diff.ignore', 'log.level', 'keep.ttlMs']

  type Compat = ReturnType<typeof compatSettings>

  function compat(key: SettingKey, value: unknown, name: keyof Compat): typeof READ {
    return { [key]: [value, partOf(compatSettings, (part) => part[name])] }
  }

  function limit(name: keyof Compat['limits'] & string): typeof READ {
    return { [`limits.${name}`]: [7, partOf(compatSettings, ({ limits }) => limits[name])] }
  }

  function admission(name: keyof ReturnType<typeof admissionLimits>): typeof READ {
    return { [`limits.${name}`]: [7, partOf(admissionLimits, (part) => part[name])] }
  }

  function leaving(name: keyof ReturnType<typeof retirement>): typeof READ {
    return { [`limits.${name}`]: [7, (config: Config) => () => retirement(config)[name]] }
  }

  function comparing(read: (part: ReturnType<typeof migrationSettings>) => unknown) {
    return partOf(migrationSettings, read)
  }

  /** Makes the part once, as a server does, and reads it again and again. */
  function partOf<Part>(make: (config: Config) => Part, read: (part: Part) => unknown) {
    return (config: Config) => {
      const part = make(config)
      return () => read(part)
    }
  }

  const LIVE = SETTING_KEYS.filter((key) => whyRestart(key) === undefined)

  it('are all tried', () => {
    expect([...Object.keys(READ), ...ELSEWHERE].sort(), 'READ has a row for each live setting').toEqual([...LIVE].sort())
  })

  it.each(Object.entries(READ))('are read where they are needed: %s', (key, [value, read]) => {
    const config = { ...configWith({}) }
    const now = read(config)
    const before = now()
    changeLive(config, { [key]: value })
    expect(now()).not.toEqual(before)
  })

  it('are told apart from those that need a restart', () => {
    const before = configWith({ modes: { default: 'v2', rules: [], testers: [] } })
    const after = configWith({ 'log.level': 'warn', 'listen.port': 7, modes: { default: 'v1', rules: [], testers: [] } })
    expect(changedBetween(before, after)).toEqual({ live: { 'log.level': 'warn' }, restart: ['listen.port'] })
    expect(changedBetween(before, configWith({}))).toEqual({ live: {}, restart: [] })
  })
})

describe('reload', () => {
  let sandbox: Sandbox
  let proxy: Stage<null>

  beforeAll(async () => {
    proxy = await startStage({ v1: null })
    sandbox = proxy.sandbox
  })

  const ask = (path: string, base = proxy.url) =>
    fetch(`${base}${path.replace('ORGANIZATION', sandbox.organization)}`, { headers: bearer('demo-owner') })

  /** Changes settings for one test. */
  function changed(changes: Partial<Config>, back: Partial<Config>) {
    onTestFinished(() => void proxy.reload(back))
    return proxy.reload(changes)
  }

  describe('a server takes other settings while it serves', () => {
    it('in its answers to calls', async () => {
      const call = async (method: string, message = {}) => {
        const headers = { ...bearer('demo-owner'), 'content-type': 'application/json' }
        const answer = await fetch(`${proxy.url}/chainguard.platform.${method}`, { method: 'POST', headers, body: JSON.stringify(message) })
        return answer.status
      }
      const readmes = async () => {
        await proxy.clearJournal()
        expect(await call('registry.Registry/ListRepos')).toBe(200)
        return (await proxy.journal()).filter(({ path }) => path.includes('eadme')).length
      }
      const missing = () => call('iam.Groups/List', { id: `${sandbox.organization}/0000000000000000` })
      expect([await missing(), await missing()]).toEqual([200, 200])
      expect(await readmes()).toBeGreaterThan(0)
      const back = { 'errors.notFound': 'empty', 'registry.readmes': true } as const
      expect(changed({ 'errors.notFound': 'error', 'registry.readmes': false }, back)).toBeUndefined()
      expect([await missing(), await readmes()]).toEqual([404, 0])
    })

    it('in how many rows a message may have as JSON', async () => {
      const stage = await startStage({ mode: 'v1', sandbox: { data: 'large', tags: 1000 } })
      const list = async () => {
        const headers = { ...bearer('demo-owner'), 'content-type': 'application/json' }
        const answer = await fetch(`${stage.url}/chainguard.platform.registry.Registry/ListTags`, { method: 'POST', headers, body: '{}' })
        return [answer.status, await answer.text()] as const
      }
      expect((await list())[0]).toBe(200)
      expect(stage.reload({ 'limits.rowsPerRequest': 10 })).toBeUndefined()
      expect(await list()).toEqual([429, expect.stringContaining('limits.rowsPerRequest (10)')])
    })

    it('in how many comparisons ask at once', async () => {
      const held: ServerResponse[] = []
      const v2: Handler = (request, response, body) =>
        request.url?.startsWith('/iam/v2/groups') ? void held.push(response) : answering({ response: 'pong' })(request, response, body)
      const stage = await startStage({ v1: answering({ items: [] }), v2, mode: 'diff-v1', proxy: { 'diff.parallel': 1 } })
      await stage.request('GET', '/iam/v1/groups')
      await until(async () => held.length === 1)
      expect(stage.reload({ 'diff.parallel': 10 })).toBeUndefined()
      for (let nth = 1; nth < 10; nth += 1) await stage.request('GET', `/iam/v1/groups?limit=${nth}`)
      await until(async () => held.length === 10)
      for (const response of held) response.end('{"groups":[]}')
      await stage.settled()
      expect((await stage.evidence()).queue).toMatchObject({ done: 10, failed: 0 })
    })

    it.each<[string, Partial<Config>, Partial<Config>, string, number]>([
      ['unknown parameters', { unknownParameters: 'refuse' }, { unknownParameters: 'drop' }, '/iam/v1/groups?zebra=1', 400],
      [
        'missing resources',
        { 'errors.notFound': 'error' },
        { 'errors.notFound': 'empty' },
        '/iam/v1/groups?id=ORGANIZATION/0000000000000000',
        404,
      ],
      ['callers', { 'limits.callerPerSecond': 1 }, { 'limits.callerPerSecond': 0 }, '/iam/v1/groups', 429],
    ])('in its answers about %s', async (_, changes, back, path, status) => {
      expect((await ask(path)).status).toBe(200)
      expect(changed(changes, back)).toBeUndefined()
      const answers = await Promise.all(Array.from({ length: 4 }, () => ask(path)))
      expect(answers.map((answer) => answer.status)).toContain(status)
    })

    it('in the time that a call to v2 may take', async () => {
      const slow = await startStage({ v1: null, v2: () => {} })
      slow.reload({ 'limits.callTimeoutMs': 1 })
      expect((await ask('/iam/v1/groups', slow.url)).status).toBe(504)
    })

    it('in the rows of a list', async () => {
      const rows = async () => (await (await ask('/iam/v1/roles')).text()).length
      const whole = await rows()
      changed({ 'limits.rowsPerRequest': 1, 'limits.bufferedRows': 1 }, { 'limits.rowsPerRequest': 1_000_000, 'limits.bufferedRows': 1000 })
      expect(await rows().catch(() => 0)).toBeLessThan(whole)
    })

    it('in its differences, of which it keeps the counts', async () => {
      const rule = { operations: ['iam.roles.list'], at: '/items/*/name', reason: 'r', until: Date.UTC(2100, 0, 1) }
      const codes = async () => {
        const { declarations } = (await (await ask('/evidence', proxy.adminUrl)).json()) as { declarations: { code: string }[] }
        return declarations.map(({ code }) => code)
      }
      const before = await codes()
      expect(changed({ 'diff.ignore': [{ ...rule, name: 'mine' }] }, { 'diff.ignore': [] })).toBeUndefined()
      expect(await codes()).toEqual([...before, 'ignored:mine'])
      expect(proxy.reload({ 'diff.ignore': [{ ...rule, at: '/items/*/nam' }] })).toContain('did you mean "name"?')
      expect(await codes()).toContain('ignored:mine')
    })

    it('in what its verdict asks, and notes who accepted what', async () => {
      const accept = { reason: 'once a year', until: '2100-01-01' }
      const operations = [{ operations: 'iam.roles.*', accept }]
      const told = () => proxy.log.filter(({ what }) => what === 'acceptance').map(({ msg, by }) => [msg, by])
      expect(proxy.reload({ 'cutover.operations': operations }, { source: 'file', path: 'c.json' })).toBeUndefined()
      expect(await (await ask('/evidence', proxy.adminUrl)).json()).toMatchObject({ terms: { each: 3, operations } })
      expect(proxy.reload({ 'cutover.operations': [{ operations: 'iam.rolse.list', target: 0.1 }] })).toMatch(
        /^cutover\.operations\.0\.operations: "iam\.rolse\.list" fits no operation that v2 serves; did you mean "iam\.roles\.list"\?$/,
      )
      expect(proxy.reload({ 'cutover.operations': [] })).toBeUndefined()
      const text = 'iam.roles.* may move without proof until 2100-01-01: once a year'
      expect(told()).toEqual([
        [text, { source: 'file', path: 'c.json' }],
        [`No longer: ${text}`, { source: 'program' }],
      ])
    })

    it('in its log', async () => {
      await ask('/iam/v1/groups')
      await proxy.logged(({ operation }) => operation === 'iam.groups.list')
      changed({ 'log.level': 'error' }, { 'log.level': 'info' })
      const lines = proxy.log.length
      await ask('/iam/v1/groups')
      expect(proxy.log.length).toBe(lines)
    })

    it('in the tokens of the admin port, but for taking the last away', async () => {
      const guarded = await startStage({ v1: null, v2: sandbox.url })
      const status = async (token: string) => (await fetch(`${guarded.adminUrl}/modes`, { headers: bearer(token) })).status
      const isShown = async () => (await (await fetch(`${guarded.adminUrl}/report`)).text()).includes('{"format":"crosswalk-report-1"')
      expect([await status('none'), await isShown()]).toEqual([200, true])
      expect(guarded.reload({ 'admin.token': 'the-first-token-of-all' })).toBeUndefined()
      expect(await isShown()).toBe(false)
      expect([await status('none'), await status('the-first-token-of-all')]).toEqual([401, 200])
      guarded.reload({ 'admin.token': 'the-second-token-of-all' })
      expect([await status('the-first-token-of-all'), await status('the-second-token-of-all')]).toEqual([401, 200])
      expect(guarded.reload({ 'admin.token': undefined, unknownParameters: 'refuse' })).toContain('everybody could change modes')
      expect([await status('none'), (await ask('/iam/v1/groups?zebra=1', guarded.url)).status]).toEqual([401, 200])
    })

    it('and the certificate that its files hold', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'crosswalk-reload-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const [key, cert] = [join(folder, 'key'), join(folder, 'cert')]
      const put = (name: string) => {
        copyFileSync(`test/certificates/${name}.key`, key)
        copyFileSync(`test/certificates/${name}.crt`, cert)
      }
      put('localhost')
      const secure = await startStage({ v1: null, v2: sandbox.url, proxy: { 'tls.key': key, 'tls.cert': cert } })
      const { port } = new URL(secure.url)
      const shown = () =>
        new Promise<string>((resolve, reject) => {
          const ca = [readFileSync('test/certificates/localhost.crt'), readFileSync('test/certificates/other.crt')]
          const socket = tls.connect({ port: Number(port), host: '127.0.0.1', servername: 'localhost', ca, ALPNProtocols: ['h2'] }, () => {
            resolve(`${socket.alpnProtocol} ${socket.getPeerCertificate().fingerprint256}`)
            socket.destroy()
          })
          socket.once('error', reject)
        })
      const first = await shown()
      put('other')
      expect(await shown()).toBe(first)
      secure.certify()
      const second = await shown()
      expect([second === first, second.slice(0, 3)]).toEqual([false, 'h2 '])
    })
  })
})
