import { type ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { parseAst } from 'vite'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { isFull, sampled } from '../../sample.ts'
import { until } from '../../stage/clocks.ts'
import { listening } from '../../stage/programs.ts'
import { startStage } from '../../stage/stage.ts'
import { answering, freePort, startUpstream } from '../../stage/upstream.ts'
import { hasCurl, paste, runCommand } from './support.ts'

/** Starts a command of the program as it is shipped. */
const start = (...argv: string[]): ChildProcess => spawn(process.execPath, [inject('cli'), ...argv], { stdio: ['ignore', 'pipe', 'pipe'] })

/** Returns the code with which a process ends. */
const exit = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once('exit', resolve))

/** Reads the lines of a process up to and including the first line that fits. */
async function linesUntil(child: ChildProcess, fits: (lines: readonly string[]) => boolean): Promise<readonly string[]> {
  const lines: string[] = []
  if (!child.stdout) return lines
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (fits(lines)) break
  }
  return lines
}

it.each([
  ['a certificate', ['--tls-key', '/none', '--tls-cert', '/none'], {}],
  ['a record file', ['--records-file', '/none/records'], {}],
  ['a record file of workers', ['--records-file', '/none/records', '--workers', '2'], {}],
  ['a collector', [], { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'nonsense' }],
  ['a collector of workers', ['--workers', '2'], { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'nonsense' }],
])('a start that fails ends although it has a store: %s', async (_, flags, env) => {
  const store = ['--upstream-v2', 'http://127.0.0.1:1', '--store-url', 'redis://127.0.0.1:1']
  const argv = [inject('cli'), 'serve', '--port', '0', '--admin-port', '0', ...store, ...flags]
  const child = spawn(process.execPath, argv, { env: { ...process.env, ...env }, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  expect(await exit(child)).toBeGreaterThan(0)
})

const ANY_PORT = ['--port', '0', '--admin-port', '0', '--sandbox-port', '0']

describe('bundle', () => {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-bundle-'))
  const file = join(folder, 'crosswalk.yaml')
  afterAll(() => rmSync(folder, { recursive: true }))

  const V2 = 'http://127.0.0.1:1'
  const JSON_BODY = { 'content-type': 'application/json' }

  const pathOf = (chunk: string) => join(dirname(inject('cli')), chunk)
  const chunks = () => readdirSync(dirname(inject('cli'))).filter((name) => name.endsWith('.js'))

  /** The names of the chunks with such a text. */
  const chunksWith = (part: RegExp) => chunks().filter((name) => part.test(readFileSync(pathOf(name), 'utf8')))

  /** The names of the chunks of a module; one of them may only name what the other has. */
  const chunksNamed = (module: string) => chunks().filter((name) => name.startsWith(`${module}-`))

  /** What each chunk imports at once. Several tests ask, and the chunks are long. */
  const imports = new Map<string, readonly string[]>()
  function importsOf(name: string): readonly string[] {
    const found = imports.get(name)
    if (found) return found
    const { body } = parseAst(readFileSync(pathOf(name), 'utf8'))
    const read = body.flatMap((node) => (node.type === 'ImportDeclaration' ? [node.source.value] : []))
    imports.set(name, read)
    return read
  }

  /** Returns the chunks that Node loads at once with these, which are among them. */
  function loadedWith(...names: string[]): readonly string[] {
    const loaded = [...names]
    for (const name of loaded) loaded.push(...importsOf(name).flatMap((path) => (loaded.includes(basename(path)) ? [] : [basename(path)])))
    return loaded
  }

  /** Asks a proxy for what it finds in files: an answer, the program of its page, its contract, and a call of gRPC. */
  async function asked({ url = '', adminUrl = '' }) {
    const { status } = await fetch(`${url}/iam/v1/groups`)
    const page = await (await fetch(`${adminUrl}/report`)).text()
    const program = page.slice(page.lastIndexOf('<script>'))
    const contract = (await (await fetch(`${adminUrl}/openapi.json`)).text()).replaceAll(url, '')
    const health = await fetch(`${url}/grpc.health.v1.Health/Check`, { method: 'POST', headers: JSON_BODY, body: '{}' })
    return { status, program, contract, health: [health.status, await health.text()] }
  }

  /** Starts the program with the file of settings, asks it, and returns the answers when it has ended. */
  async function served(...flags: string[]) {
    const child = spawn(process.execPath, [inject('cli'), 'serve', '--config', file, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'exit')
    onTestFinished(() => void child.kill('SIGKILL'))
    for await (const line of createInterface({ input: child.stdout })) {
      const [url, , adminUrl] = line.match(/http:\/\/[\d.]+:\d+/g) ?? []
      const answers = await asked({ ...(url && { url }), ...(adminUrl && { adminUrl }) })
      child.kill('SIGTERM')
      expect(await ended).toEqual([0, null])
      return answers
    }
    throw new Error('the program printed no address')
  }

  describe('the program is a bundle, which', () => {
    beforeAll(() => {
      writeFileSync(file, `upstream:\n  v2: ${V2}\nlisten:\n  port: 0\nadmin:\n  port: 0\nlog:\n  level: silent\n`)
    })

    it('has every command', async () => {
      const { out } = await runCommand(['help'])
      expect(out.split('\n').length).toBeGreaterThan(20)
      expect(await linesUntil(start('help'), () => false)).toEqual(out.split('\n'))
    })

    it.each(sampled([[[]], [['--workers', '2']]], 2, 1))('serves as its sources do, with the flags %j', async (flags) => {
      const proxy = await startStage({ v1: null, v2: V2 })
      const expected = await asked(proxy)
      await proxy.close()
      expect(expected.status).toBe(503)
      expect(await served(...flags)).toEqual(expected)
    })

    it('is text of Latin characters, which V8 keeps in half of the memory', () => {
      expect(chunksWith(/[^\0-\xff]/)).toEqual([])
    })

    it('leaves the compilers of JSON Schemas apart, because no route needs them', () => {
      expect(chunksWith(/@fastify\/ajv-compiler/)).toHaveLength(1)
      expect(chunksWith(/require_ajv/)).toEqual([])
    })

    it('imports no module of Node, because Node would read all of its members', () => {
      const imported = chunks().flatMap(importsOf)
      expect(imported).toContain(`./${chunksNamed('fastify')[0]}`)
      expect(imported.filter(isBuiltin)).toEqual([])
    })

    it('gathers what a start loads in a dozen files', () => {
      expect(loadedWith(...chunksNamed('serve'))).toContain(chunksNamed('fastify')[0])
      expect(loadedWith(...chunksNamed('serve')).length).toBeLessThan(12)
      expect(loadedWith('worker-main.js')).toContain(chunksNamed('fastify')[0])
      expect(loadedWith('worker-main.js').length).toBeLessThan(14)
    })

    it('loads what serves for the commands that serve alone', () => {
      const loaded = loadedWith(...chunksNamed('run'))
      for (const module of ['serve', 'agent', 'fastify']) {
        expect(chunksNamed(module)).not.toEqual([])
        expect(loaded).not.toEqual(expect.arrayContaining([expect.stringMatching(`^${module}-`)]))
      }
    })
  })

  it('may be executed, also after a build that npm does not know of', () => {
    expect((statSync(inject('cli')).mode & 0o777).toString(8)).toBe('755')
  })
})

describe('own tables', () => {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-tables-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  /** Tables of somebody else. They import the package, whose modules are not those inside of the program. */
  const TABLES = (language: string) => `
import { get, list, readOnly, replace, resource, scope, text } from '${language}'
const item = resource('item', {
  v2: '/shop/v2/items',
  plural: 'items',
  fields: { id: readOnly('uid'), title: text('name') },
})
export const tables = {
  name: 'shop',
  mappings: [{
    domain: 'shop',
    operations: [
      get('shop.items.get', 'GET /shop/v1/items/{id=**}', item, 'error'),
      list('shop.items.list', 'GET /shop/v1/items', item, { query: scope, byId: 'id' }),
      replace('shop.items.update', 'PUT /shop/v1/items/{id=**}', item),
    ],
  }],
  differences: [],
  shapes: {},
}
`

  const UIDS = ['a'.repeat(40), 'b'.repeat(40)]

  const notFound = (uid = '') => ({
    code: 5,
    message: 'not found',
    details: [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo' },
      { '@type': 'type.googleapis.com/google.rpc.ResourceInfo', resourceType: 'Item', resourceName: uid },
    ],
  })

  /** A service with two items. */
  const startShop = () =>
    startUpstream((request, response, body) => {
      const items = UIDS.map((uid) => ({ uid, name: `the ${uid[0]}` }))
      const [, uid] = /items\/(\w+)/.exec(request.url ?? '') ?? []
      const found = uid === undefined ? { items } : items.find((item) => item.uid === uid)
      return (found ? answering(found) : answering(notFound(uid), 404))(request, response, body)
    })

  it('the program serves tables that import the package', async () => {
    const path = join(folder, 'tables.mjs')
    writeFileSync(path, TABLES(pathToFileURL(resolve(inject('cli'), '../../src/tables/language.js')).href))
    const shop = await startShop()
    const child = start('serve', '--tables', path, '--upstream-v2', shop.url, '--log-level', 'silent', ...ANY_PORT.slice(0, 4))
    const ended = exit(child)
    onTestFinished(() => void child.kill('SIGKILL'))
    const [line = ''] = await linesUntil(child, () => true)
    const [url] = /http:\/\/[\d.]+:\d+/.exec(line) ?? []
    const ask = async (target: string, init?: RequestInit) => {
      const answer = await fetch(`${url}/shop/v1/items${target}`, init)
      return [answer.status, await answer.json()]
    }
    const put = (body: object) => ({ method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    const items = UIDS.map((id) => ({ id, title: `the ${id[0]}` }))
    expect(await ask('')).toEqual([200, { items }])
    expect(await ask(`/${UIDS[0]}`)).toEqual([200, items[0]])
    expect(await ask(`/${'c'.repeat(40)}`)).toMatchObject([404, { code: 5 }])
    expect(await ask(`/${UIDS[0]}`, put({ title: 5 }))).toMatchObject([
      400,
      { code: 3, message: 'Invalid argument: title: must be a string' },
    ])
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })
})

describe('process', () => {
  const curls = (lines: readonly string[]) => lines.filter((line) => line.startsWith('curl '))

  describe('crosswalk demo', () => {
    it.runIf(hasCurl())(
      'prints addresses, a token, the organization and five lines that answer with real data; SIGTERM ends it',
      async () => {
        const child = start('demo', ...ANY_PORT)
        const ended = exit(child)
        const lines = await linesUntil(child, (all) => curls(all).length === 5)
        const text = lines.join('\n')
        expect(text).toMatch(/v1 proxy +http:\/\/127\.0\.0\.1:\d+/)
        expect(text).toMatch(/sandbox v2 +http:\/\/127\.0\.0\.1:\d+/)
        expect(text).toMatch(/admin +http:\/\/127\.0\.0\.1:\d+/)
        expect(text).toMatch(/token +demo-owner/)
        expect(text).toMatch(/organization +[0-9a-f]{40}/)
        for (const line of curls(lines)) {
          const answer = JSON.parse(await paste(line))
          expect(answer.items ?? [answer.id]).not.toEqual([])
          expect(answer).not.toHaveProperty('code')
        }
        child.kill('SIGTERM')
        expect(await ended).toBe(0)
      },
    )
  })

  it('prints the banner of a demo before the first line of its log', async () => {
    const both = join(mkdtempSync(join(tmpdir(), 'crosswalk-banner-')), 'both.txt')
    const file = openSync(both, 'w')
    const child = spawn(process.execPath, [inject('cli'), 'demo', ...ANY_PORT], { stdio: ['ignore', file, file] })
    const ended = exit(child)
    await until(async () => readFileSync(both, 'utf8').includes('made through v1'))
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(readFileSync(both, 'utf8').trimStart()).toMatch(/^v1 proxy/)
  })

  it('reads its settings again at SIGHUP and goes on', async () => {
    const child = start('serve', '--upstream-v2', 'http://127.0.0.1:1', '--port', '0', '--admin-port', '0')
    const ended = exit(child)
    const [line = ''] = await linesUntil(child, () => true)
    const [, admin = ''] = /admin on (\S+)\.$/.exec(line) ?? []
    child.kill('SIGHUP')
    for await (const said of createInterface({ input: child.stderr as NodeJS.ReadableStream })) if (said.includes('SIGHUP came')) break
    expect((await fetch(`${admin}/healthz`)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })

  it('runs crosswalk sandbox until SIGTERM', async () => {
    const child = start('sandbox', '--port', '0', '--data', 'empty')
    const ended = exit(child)
    const [line = ''] = await linesUntil(child, () => true)
    const [, url = ''] = /on (\S+)\.$/.exec(line) ?? []
    expect((await fetch(`${url}/ping/v2/ping`)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })

  it('knows its version in the build', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(execFileSync(process.execPath, [inject('cli'), '--version'], { encoding: 'utf8' })).toBe(`${version}\n`)
  })

  describe('a start that fails', () => {
    /** A process without a listener ends by itself. If one stays, the test times out. */
    const stopped = async (...argv: string[]) => {
      const child = start(...argv)
      const said = text(child.stderr as NodeJS.ReadableStream)
      return [await exit(child), await said]
    }
    const SERVE = ['serve', '--upstream-v2', 'http://127.0.0.1:1']
    const isTaken = (port: number) => `Port ${port} of 127.0.0.1 is taken; stop what listens there or choose another port (0 = any).\n`
    let taken: net.Server
    let port: number
    beforeAll(async () => {
      taken = net.createServer()
      port = (await listening(taken)).port
    })
    afterAll(() => void taken.close())

    const PORTS: readonly (readonly [command: readonly string[], flag: string, others: readonly string[]])[] = [
      [SERVE, '--port', ['--admin-port']],
      [SERVE, '--admin-port', ['--port']],
      [['demo'], '--port', ['--admin-port', '--sandbox-port']],
      [['demo'], '--admin-port', ['--port', '--sandbox-port']],
      [['demo'], '--sandbox-port', ['--port', '--admin-port']],
      [['sandbox'], '--port', []],
    ]

    it.each(sampled(PORTS, 6, 1))(
      'ends %s with a taken %s in one sentence, exit code 1 and no listener left',
      async (command, flag, others) => {
        expect(await stopped(...command, flag, String(port), ...others.flatMap((other) => [other, '0']))).toEqual([1, isTaken(port)])
      },
    )

    const SERVING = [[SERVE], [['demo', '--sandbox-port', '0']]] as const

    it.each(sampled(SERVING, 2))('ends %s with one port for both as a contradiction', async (command) => {
      const both = String(await freePort())
      const says = `listen.port and admin.port are both ${both}, but a port has one listener; give each its own (0 = any).\n`
      expect(await stopped(...command, '--port', both, '--admin-port', both)).toEqual([2, says])
    })

    it.each(sampled(SERVING, 2))('names unusable files for %s', async (command) => {
      const used = (...argv: string[]) => stopped(...command, '--port', '0', '--admin-port', '0', ...argv)
      expect(await used('--records-file', '/nowhere/records.ndjson')).toEqual([
        1,
        'records.file cannot be written: there is no such file or folder (/nowhere/records.ndjson)\n',
      ])
      expect(await used('--tls-key', '/nowhere/key.pem', '--tls-cert', 'package.json')).toEqual([
        1,
        'tls.key cannot be read: there is no such file or folder (/nowhere/key.pem)\n',
      ])
      expect(await used('--tls-key', 'test/certificates/localhost.key', '--tls-cert', 'package.json')).toEqual([
        1,
        expect.stringMatching(/^tls\.key .* are not a key and its certificate in PEM: .*\n$/),
      ])
    })
  })

  it('ends with the code of the command, although nobody reads what it prints', async () => {
    const child = start('cutover', '--json', '--admin', 'http://127.0.0.1:1')
    child.stdout?.destroy()
    expect(await exit(child)).toBe(3)
  })

  it('serves although nobody reads its log, and says later how many lines that cost', async () => {
    const port = await freePort()
    const child = start('serve', '--upstream-v2', 'http://127.0.0.1:1', '--port', String(port), '--admin-port', '0')
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = exit(child)
    const ask = (path: string) => fetch(`http://127.0.0.1:${port}/iam/v1/${path}`, { signal: AbortSignal.timeout(5000) })
    await until(async () => (await ask('groups').catch(() => undefined))?.status === 503)
    // More than the system keeps of a line that nobody reads.
    const flood = async () => {
      for (let nth = 0; nth < 50; nth += 1) expect((await ask('a'.repeat(30_000))).status).toBe(404)
    }
    await flood()
    let read = ''
    child.stderr?.setEncoding('utf8').on('data', (piece) => {
      read += piece
    })
    await until(async () => /"msg":"the log lost [\d,]+ lines/.test(read))
    child.stderr?.removeAllListeners('data').pause()
    await flood()
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })

  describe.runIf(existsSync('/dev/full'))('a full disk', () => {
    const full = () => openSync('/dev/full', 'w')

    const FULL = [
      ['standard error', ['ignore', 'full']],
      ['standard output', ['full', 'ignore']],
      ['both', ['full', 'full']],
    ] as const

    it.each(sampled(FULL, 3, 2))('of %s keeps no proxy from serving', async (_, to) => {
      const port = await freePort()
      const argv = [inject('cli'), 'serve', '--upstream-v2', 'http://127.0.0.1:1', '--port', String(port), '--admin-port', '0']
      const stdio: StdioOptions = ['ignore', ...to.map((one) => (one === 'full' ? full() : one))]
      const child = spawn(process.execPath, argv, { stdio })
      const ended = exit(child)
      await until(async () => (await fetch(`http://127.0.0.1:${port}/iam/v1/groups`).catch(() => undefined))?.status === 503)
      child.kill('SIGTERM')
      expect(await ended).toBe(0)
    })

    it('of standard error lets a process end of which an exception escaped', async () => {
      const env = { ...process.env, NODE_OPTIONS: '--import "data:text/javascript,setTimeout(()=>{throw 1},2000)"' }
      const argv = [inject('cli'), 'serve', '--upstream-v2', 'http://127.0.0.1:1', ...ANY_PORT.slice(0, 4)]
      const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'ignore', full()] })
      onTestFinished(() => void child.kill('SIGKILL'))
      expect(await exit(child)).toBe(1)
    })

    const V2 = 'http://127.0.0.1:1'
    it.each([[['openapi']], [['replay', '-', '--format', 'access-log', '--against', V2, '--upstream-v2', V2]]])(
      'ends %j, whose output it lost, with 1 and a sentence',
      async (argv) => {
        const env = { ...process.env, TOKEN: 'demo-owner' }
        const child = spawn(process.execPath, [inject('cli'), ...argv], { env, stdio: ['ignore', full(), 'pipe'] })
        const said = text(child.stderr as NodeJS.ReadableStream)
        expect([await exit(child), await said]).toEqual([1, 'Standard output cannot be written: ENOSPC: no space left on device, write.\n'])
      },
    )

    it('names the file that does not fit', async () => {
      const { code, err } = await runCommand(['openapi', '--out', '/dev/full'])
      expect({ code, err }).toEqual({ code: 1, err: '/dev/full cannot be written: the disk is full.' })
    })

    it('says that sandbox and proxy of a demo have one port', async () => {
      const { code, err } = await runCommand(['demo', '--port', '8090'])
      expect({ code, err }).toEqual({
        code: 2,
        err: 'sandbox-port and listen.port are both 8090, but a port has one listener; give each its own (0 = any).',
      })
    })
  })
})

describe('signals', () => {
  /** How often a signal is sent at the moment at which a process is most likely to miss it. */
  const TURNS = isFull ? 10 : 1

  /** What a process prints when it can be used, and how it is started. */
  const STAYING: readonly (readonly [name: string, argv: readonly string[], ready: RegExp])[] = [
    ['serve', ['serve', '--upstream-v2', 'http://127.0.0.1:1', '--port', '0', '--admin-port', '0'], /serves v1 on/],
    [
      'serve --workers 2',
      ['serve', '--workers', '2', '--upstream-v2', 'http://127.0.0.1:1', '--port', '0', '--admin-port', '0'],
      /serves v1 on/,
    ],
    ['demo', ['demo', ...ANY_PORT], /v1 proxy/],
    ['sandbox', ['sandbox', '--port', '0', '--data', 'empty'], /serves v2/],
  ]

  it.each(sampled(STAYING, 4, 1))(
    'ends %s in order by a SIGTERM that follows its first line at once',
    async (_, argv, ready) => {
      for (let turn = 0; turn < TURNS; turn += 1) {
        const child = start(...argv)
        const ended = exit(child)
        await linesUntil(child, (lines) => ready.test(lines.at(-1) ?? ''))
        child.kill('SIGTERM')
        expect([turn, await ended]).toEqual([turn, 0])
      }
    },
    120_000,
  )

  it('ends serve at once by a second signal, also one of another kind', async () => {
    const child = start('serve', '--upstream-v2', 'http://127.0.0.1:1', '--port', '0', '--admin-port', '0', '--drain-ms', '600000')
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = once(child, 'exit')
    const [line = ''] = await linesUntil(child, () => true)
    const [, admin = ''] = /admin on (\S+)\.$/.exec(line) ?? []
    child.kill('SIGTERM')
    await until(async () => (await (await fetch(`${admin}/readyz`)).text()).includes('shutting down'))
    child.kill('SIGINT')
    expect(await ended).toEqual([null, 'SIGINT'])
  })

  it('prints on a terminal where it serves, before any line of the log', async () => {
    const argv = ['serve', '--upstream-v2', 'http://127.0.0.1:1', '--port', '0', '--admin-port', '0', '--admin-host', '0.0.0.0']
    // `script` of util-linux gives it a terminal. `exec`, because a shell that waits ends with 130 by the same Ctrl-C.
    const command = ['exec', process.execPath, inject('cli'), ...argv].join(' ')
    const child = spawn('script', ['-qec', command, '/dev/null'], { stdio: 'pipe' })
    const ended = exit(child)
    const lines = await linesUntil(child, (all) => all.length === 2)
    expect(lines).toEqual([expect.stringMatching(/^Crosswalk serves v1 on /), expect.stringMatching(/^\{"level":40,.*0\.0\.0\.0/)])
    child.stdin.write('\u0003')
    child.stdin.end()
    expect(await ended).toBe(0)
  })

  describe('a signal during the start', () => {
    let folder: string
    let tables: string
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'crosswalk-start-'))
      tables = join(folder, 'tables.mjs')
      // A start that says that it has begun, and waits until it may go on.
      const wait =
        "process.stdout.write('starting\\n'); await new Promise((resolve) => process.stdin.once('data', resolve)); process.stdin.pause()"
      const own = pathToFileURL(resolve(inject('cli'), '../../mappings/index.js'))
      writeFileSync(tables, `${wait}\nexport { tables } from '${own}'\n`)
    })
    afterAll(() => rmSync(folder, { recursive: true }))

    const starting = async () => {
      const argv = [inject('cli'), 'serve', '--tables', tables, '--upstream-v2', 'http://127.0.0.1:1', '--port', '0', '--admin-port', '0']
      const child = spawn(process.execPath, argv, { stdio: 'pipe' })
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      expect((await lines.next()).value).toBe('starting')
      return { child, lines, ended: exit(child) }
    }

    it.each(Array.from({ length: TURNS }, (_, turn) => turn))('does not end it: SIGHUP is heeded once it serves (%i)', async () => {
      const { child, lines, ended } = await starting()
      child.kill('SIGHUP')
      child.stdin.write('go')
      expect((await lines.next()).value).toContain('serves v1 on')
      for await (const said of createInterface({ input: child.stderr })) if (said.includes('SIGHUP came')) break
      child.kill('SIGTERM')
      expect(await ended).toBe(0)
    })

    it('ends it in order once it has started: SIGTERM', async () => {
      const { child, ended } = await starting()
      child.kill('SIGTERM')
      child.stdin.write('go')
      expect(await ended).toBe(0)
    })
  })
})
