import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import http, { type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { Writable } from 'node:stream'
import pino from 'pino'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { tables as shop } from '../../../examples/library/own-tables.ts'
import { type Crosswalk, createCrosswalk, type Settings } from '../../../src/index.ts'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { createHosted } from '../../../src/serve/http/retire.ts'
import { action, type ErrorForm, message, type Tables, text } from '../../../src/tables/language.ts'
import { until } from '../../stage/clocks.ts'
import { listening } from '../../stage/programs.ts'
import { sources } from '../../stage/sources.ts'
import { bearer, startQuietSandbox } from '../../stage/stage.ts'
import { answering, startUpstream } from '../../stage/upstream.ts'

describe('create crosswalk', () => {
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await startQuietSandbox({})
  })

  const roles = async (url: string | undefined) => {
    const answer = await fetch(`${url}/iam/v1/roles?limit=1`, { headers: bearer(sandbox.tokens.owner) })
    return { status: answer.status, body: (await answer.json()) as { readonly items: readonly object[] } }
  }

  /** A logger, and its lines. */
  function logged() {
    const lines: Record<string, unknown>[] = []
    const write = (chunk: Buffer, _: string, done: () => void) => {
      lines.push(JSON.parse(String(chunk)))
      done()
    }
    return { lines, log: pino(new Writable({ write })) }
  }

  /** What `createCrosswalk` says of settings that are wrong. */
  const refusal = (settings: unknown) =>
    createCrosswalk(settings as Settings).then(
      () => 'nothing',
      (error: Error) => error.message,
    )

  describe('createCrosswalk', () => {
    it('serves v1 at a port and opens no admin port', async () => {
      const v1 = await createCrosswalk({ upstream: { v2: sandbox.url } })
      expect([v1.url, v1.adminUrl]).toEqual([undefined, undefined])
      await v1.listen()
      const { status, body } = await roles(v1.url)
      expect([status, body.items.length]).toEqual([200, 1])
      expect([v1.adminUrl, await v1.notReady()]).toEqual([undefined, undefined])
      const { url } = v1
      await Promise.all([v1.close(), v1.close()])
      await expect(fetch(`${url}/iam/v1/roles`)).rejects.toThrow()
    })

    it('leaves no port open when it is closed while it begins to listen', async () => {
      const v1 = await createCrosswalk({ upstream: { v2: sandbox.url } })
      const listening = v1.listen().catch(() => {})
      await v1.close()
      await listening
      await expect(fetch(`${v1.url}/iam/v1/roles`)).rejects.toThrow()
    })

    it('serves requests that a server of node:http accepted', async () => {
      const v1 = await createCrosswalk({ upstream: { v2: sandbox.url } })
      const server = http.createServer((request, response) => {
        if (v1.servesPath(request.url ?? '')) v1.handler(request, response)
        else response.end('own')
      })
      const { url } = await listening(server)
      expect((await roles(url)).body.items).toHaveLength(1)
      expect(await (await fetch(url)).text()).toBe('own')
      await v1.close()
      expect((await roles(url)).status).toBe(503)
      server.closeAllConnections()
      server.close()
    })

    it.each(['whole', 'begun'])('refuses a request whose body another server has read, %s', async (extent) => {
      const v2 = await startUpstream(answering({ uid: 'a', name: 'made' }))
      const { lines, log } = logged()
      const v1 = await createCrosswalk({ upstream: { v2: v2.url } }, { log })
      onTestFinished(v1.close)
      const server = http.createServer((request, response) => {
        request.once(extent === 'whole' ? 'end' : 'data', () => v1.handler(request, response)).resume()
      })
      onTestFinished(() => void server.close())
      const { url } = await listening(server)
      const body = JSON.stringify({ name: 'made', capabilities: ['groups.list'] })
      const answer = await fetch(`${url}/iam/v1/roles/a`, { method: 'PUT', body })
      expect([answer.status, await answer.json()]).toMatchObject([
        500,
        { message: 'the body of the request was read before Crosswalk got it' },
      ])
      expect(v2.seen).toEqual([])
      expect(lines).toContainEqual(expect.objectContaining({ msg: 'a handler failed' }))
    })

    it('has drained when the last request of another server is answered, and not before', async () => {
      const open: ServerResponse[] = []
      const hosted = createHosted(
        (_, response) => void open.push(response),
        () => {},
      )
      const server = http.createServer(hosted.handler)
      onTestFinished(() => void server.close())
      const { url } = await listening(server)
      const answers = ['/a', '/b'].map((path) => fetch(url + path))
      await until(async () => open.length === 2)
      let isDrained = false
      const drained = hosted.drain(600_000).then(() => {
        isDrained = true
      })
      open[0]?.end()
      await Promise.race(answers)
      expect(isDrained).toBe(false)
      open[1]?.end()
      await drained
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200])
      expect((await fetch(url)).status).toBe(503)
    })

    it('listens once, says so if the port is taken, and does not open again', async () => {
      const first = await createCrosswalk({ upstream: { v2: sandbox.url } })
      await Promise.all([first.listen(), first.listen()])
      const port = Number(new URL(first.url ?? '').port)
      const second = await createCrosswalk({ upstream: { v2: sandbox.url }, listen: { port } })
      await expect(second.listen()).rejects.toThrow('EADDRINUSE')
      await second.close()
      expect((await roles(first.url)).status).toBe(200)
      await first.close()
      await expect(first.listen()).rejects.toThrow('This Crosswalk is closed: make another one.')
    })

    it('leaves no port open when it is closed, and opens no store when it cannot be made', async () => {
      const v1 = await createCrosswalk({ upstream: { v2: 'http://127.0.0.1:1' }, admin: { port: 0 } })
      await v1.listen()
      const urls = [v1.url ?? '', v1.adminUrl ?? '']
      for (const url of urls) expect((await fetch(url)).status).toBeGreaterThan(0)
      await v1.close()
      for (const url of urls) await expect(fetch(url)).rejects.toThrow('fetch failed')
      const folder = mkdtempSync(join(tmpdir(), 'crosswalk-'))
      const store = { url: `file:${join(folder, 'store')}` }
      expect(await refusal({ upstream: { v2: 'http://127.0.0.1:1' }, modes: 'v1', store })).toMatch(/^The modes need a v1 service/)
      expect(readdirSync(folder)).toEqual([])
      rmSync(folder, { recursive: true })
    })

    it('calls no store when its certificates cannot be read', async () => {
      let calls = 0
      const redis = http.createServer().on('connection', () => {
        calls += 1
      })
      onTestFinished(() => void redis.close())
      const store = { url: `redis://127.0.0.1:${(await listening(redis)).port}` }
      expect(await refusal({ upstream: { v2: 'https://127.0.0.1:1', v2Ca: '/none' }, store })).toMatch(/^upstream.v2Ca cannot be read/)
      expect(calls).toBe(0)
    })

    it('opens the admin port if the settings name it, and listens nowhere else', async () => {
      const v1 = await createCrosswalk({ upstream: { v2: sandbox.url }, admin: { port: 0 } })
      expect((await fetch(`${v1.adminUrl}/healthz`)).status).toBe(200)
      expect(v1.url).toBeUndefined()
      await v1.close()
    })

    it('reads and changes the modes, and tells what was compared', async () => {
      const v1 = await createCrosswalk({ upstream: { v2: sandbox.url, v1: sandbox.url }, modes: 'v1', diff: { perSecond: 0 } })
      await v1.listen()
      v1.changeModes({ default: 'diff-v1' })
      expect(v1.modes()).toMatchObject({ rules: { default: 'diff-v1' }, version: 2, by: { source: 'program' } })
      expect(() => v1.changeModes({ default: 'both' as 'v1' })).toThrow(
        'The modes are wrong: default must be one of v1, v2, diff-v1, diff-v2.',
      )
      await roles(v1.url)
      await until(async () => (await v1.evidence()).operations[0]?.matches === 1, 'the answers are compared')
      expect((await v1.evidence()).operations).toEqual([expect.objectContaining({ operation: 'iam.roles.list', matches: 1 })])
      expect((await v1.clients()).map(({ operations }) => operations.length)).toEqual([1])
      expect((await v1.report()).operations.map(({ operation }) => operation)).toEqual(['iam.roles.list'])
      const verdict = await v1.cutover({ withoutV1: true })
      expect(verdict).toMatchObject({ ready: false, withoutV1: true, operations: [{ operation: 'iam.roles.list' }] })
      await v1.close()
    })

    it('takes the logger of the program, and writes nothing without one', async () => {
      const { lines, log } = logged()
      const v1 = await createCrosswalk({ upstream: { v2: sandbox.url } }, { log })
      await v1.listen()
      await roles(v1.url)
      await v1.close()
      expect(lines).toEqual([expect.objectContaining({ msg: 'request', operation: 'iam.roles.list', status: 200 })])
    })
  })

  it.each([
    [201, '{}'],
    [204, ''],
  ] as const)('answers with the status %i of an operation, and its body', async (status, body) => {
    const v2 = await startUpstream(answering({}))
    const remove = action('shop.items.delete', 'DELETE /shop/v1/items/{id}', {
      v2: 'DELETE /shop/v2/items/{id}',
      status,
      missing: 'done',
      readBack: { unverifiable: 'nothing shows it' },
    })
    const tables: Tables = { name: 'shop', mappings: [{ domain: 'shop', operations: [remove] }], differences: [], shapes: {} }
    const v1 = await createCrosswalk({ upstream: { v2: v2.url } }, { tables })
    await v1.listen()
    const answer = await fetch(`${v1.url}/shop/v1/items/7`, { method: 'DELETE' })
    expect([answer.status, await answer.text()]).toEqual([status, body])
    await v1.close()
  })

  it.each([200, 404])('answers with the media type of an operation where v2 answers %i', async (status) => {
    const v2 = await startUpstream(answering({ name: 'a' }, status))
    const errors: ErrorForm = {
      read: () => ({ code: 'NOT_FOUND', message: 'no item', details: [], foreign: false }),
      write: ({ http: status }) => ({ status, body: {} }),
    }
    const one = action('shop.items.get', 'GET /shop/v1/items/{id}', {
      v2: 'GET /shop/v2/items/{id}',
      type: 'application/hal+json',
      missing: 'empty',
      answer: message('item', { name: text('name') }),
    })
    const tables: Tables = { name: 'shop', mappings: [{ domain: 'shop', operations: [one] }], differences: [], shapes: {}, errors }
    const v1 = await createCrosswalk({ upstream: { v2: v2.url } }, { tables })
    await v1.listen()
    const answer = await fetch(`${v1.url}/shop/v1/items/7`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/hal+json'])
    await v1.close()
  })

  it('two of them in one process share nothing', async () => {
    const v2 = await startUpstream(answering({ uid: '7', name: 'a book' }))
    const [first, second] = [logged(), logged()]
    const one = await createCrosswalk(
      { upstream: { v2: sandbox.url, v1: sandbox.url }, modes: 'diff-v1', diff: { perSecond: 0 } },
      { log: first.log },
    )
    const two = await createCrosswalk({ upstream: { v2: v2.url } }, { tables: shop, log: second.log })
    const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)])
    const before = listeners()
    await Promise.all([one.listen(), two.listen()])
    expect(listeners()).toEqual(before)
    const book = async ({ url }: Crosswalk) => (await fetch(`${url}/shop/v1/items/7`)).json()
    const answers = await Promise.all([1, 2, 3].flatMap(() => [roles(one.url), book(two)]))
    for (const [nth, answer] of answers.entries()) {
      if (nth % 2 === 0) expect(answer).toMatchObject({ status: 200, body: { items: [{}] } })
      else expect(answer).toEqual({ id: '7', title: 'a book' })
    }
    await until(async () => (await one.evidence()).operations[0]?.comparisons === 3, 'the answers are compared')
    two.changeModes({ default: 'v2' })
    expect([one.modes().version, two.modes().version]).toEqual([1, 2])
    expect([one.prefixes.includes('/shop/v1'), two.prefixes]).toEqual([false, ['/shop/v1']])
    const counted = (text: string) =>
      [...text.matchAll(/^crosswalk_requests_total\{operation="([^"]+)"[^}]*\} (\d+)/gm)].map(([, id, count]) => [id, count])
    expect(counted(await one.metrics())).toEqual([['iam.roles.list', '3']])
    expect(counted(await two.metrics())).toEqual([['shop.items.get', '3']])
    expect([(await one.evidence()).operations.length, (await two.evidence()).operations.length]).toEqual([1, 0])
    await one.close()
    expect(await book(two)).toEqual({ id: '7', title: 'a book' })
    await two.close()
    const operations = (lines: readonly Record<string, unknown>[]) => [
      ...new Set(lines.filter(({ msg }) => msg === 'request').map((line) => line['operation'])),
    ]
    expect([operations(first.lines), operations(second.lines)]).toEqual([['iam.roles.list'], ['shop.items.get']])
  })

  describe('settings that are wrong', () => {
    const upstream = { v2: 'http://127.0.0.1:1' }

    it.each([
      [undefined, 'The settings must be one object, such as { upstream: { v2: "https://api.example.com" } }.'],
      [{}, 'upstream.v2 is not set: give the base address of the v2 service'],
      [{ upstream: { v2: undefined } }, 'upstream.v2 is not set: give the base address of the v2 service'],
      [{ upstream, limits: { deadlineMS: 1 } }, 'The settings have an unknown key "limits.deadlineMS"; did you mean "limits.deadlineMs"?'],
      [{ upstream, limits: { deadlineMs: 0 } }, 'limits.deadlineMs is 0 in the settings, but it must be a whole number from 1 to 3600000.'],
      [{ upstream, modes: { default: 'v3' } }, 'modes.default in the settings must be one of v1, v2, diff-v1, diff-v2.'],
      [{ upstream, tables: './tables.js' }, 'tables cannot be given here: give the tables themselves as an option, { tables }.'],
      [{ upstream, workers: 2 }, 'workers cannot be given here: a program starts processes of its own, and each makes its own Crosswalk.'],
      [{ upstream, admin: { host: '::1' } }, 'admin.host has no effect without admin.port: give the port, or leave out the first.'],
      [{ upstream, tls: { cert: 'a' } }, 'tls.key and tls.cert go together: set both, or none for plain text.'],
    ])('are told in words: %j', async (settings, problem) => {
      expect(await refusal(settings)).toBe(problem)
    })

    it('are all told at once, and no secret is quoted', async () => {
      const wrong = await refusal({ upstream: { v2: 'no address' }, admin: { port: 0, token: 'short-secret' }, nothing: 1 })
      expect(wrong.split('\n')).toEqual([
        expect.stringMatching(/^upstream.v2 is "no address" in the settings, but it must be an address/),
        expect.stringMatching(/^admin.token in the settings must be a token of 16 or more/),
        expect.stringMatching(/^The settings have an unknown key "nothing"/),
      ])
      expect(wrong).not.toContain('short-secret')
    })

    it('do not compile', () => {
      const right: Settings = {
        upstream: { ...upstream, noProxy: ['.internal', '10.0.0.7'] },
        modes: { default: 'v2', rules: [{ mode: 'v2' }] },
        v1: { sunset: '2027-03-01' },
        unknownParameters: 'drop',
      }
      // @ts-expect-error: upstream.v2 is required
      const missing: Settings = { upstream: { v1: 'http://127.0.0.1:1' } }
      // @ts-expect-error: there is no such setting
      const unknown: Settings = { upstream, limits: { deadline: 1 } }
      // @ts-expect-error: the value is a number
      const text: Settings = { upstream, limits: { deadlineMs: '1' } }
      // @ts-expect-error: there is no such word
      const word: Settings = { upstream, unknownParameters: 'keep' }
      // @ts-expect-error: tables are an option
      const file: Settings = { upstream, tables: 'tables.js' }
      expect([right, missing, unknown, text, word, file]).toHaveLength(6)
    })
  })
})

describe('loaded', () => {
  /** Imports that are loaded with the file: neither types nor those of `import()`. */
  const LOADED = /^(?:import|export) (?!type )[^'"]*?from '([^']+)'|^import '([^']+)'/gm

  function loadedBy(start: string): { readonly files: ReadonlySet<string>; readonly packages: ReadonlySet<string> } {
    const texts = new Map(sources.map(({ path, text }) => [path, text]))
    const [files, packages] = [new Set<string>(), new Set<string>()]
    const load = (path: string) => {
      if (files.has(path)) return
      files.add(path)
      for (const [, from = '', bare = ''] of (texts.get(path) ?? '').matchAll(LOADED)) {
        const name = from || bare
        if (name.startsWith('.')) load(normalize(join(dirname(path), name)))
        else packages.add(name)
      }
    }
    load(start)
    return { files, packages }
  }

  /** Commands, workers, what only commands use, the sandbox, and the tables of this package. */
  const APART = /^src\/(app\/(cli|server\/worker)|sandbox|tools\/(draft|guide|replay))|^mappings\//

  it('loads neither commands nor the sandbox, the tables of this package or optional packages', () => {
    const { files, packages } = loadedBy('src/index.ts')
    expect(files).toContain('src/serve/serve.ts')
    expect(packages).toContain('fastify')
    expect([...files].filter((path) => APART.test(path))).toEqual([])
    expect([...packages].filter((name) => /opentelemetry|ioredis|redocly|protobuf/.test(name))).toEqual([])
  })
})
