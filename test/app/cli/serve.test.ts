import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startReceiver } from '../../../src/app/cli/commands/demo.ts'
import { keepCompiled } from '../../../src/app/cli/compile-cache.ts'
import { run } from '../../../src/app/cli/run.ts'
import { stay, watchCertificates } from '../../../src/app/cli/stay.ts'
import { readTls } from '../../../src/app/config/certificates.ts'
import { configWith } from '../../../src/app/config/config.ts'
import { runCommand, untilEscaped } from './support.ts'

describe('check', () => {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-check-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  const V2 = ['--upstream-v2', 'http://v2.test']
  const check = (...argv: readonly string[]) => runCommand(['serve', '--check', ...argv])

  describe('serve --check', () => {
    it('opens no port, asks no service and makes no file', async () => {
      const records = join(folder, 'records.ndjson')
      const argv = [...V2, '--records-file', records, '--store-url', `file:${join(folder, 'store')}`, '--port', '1']
      expect(await check(...argv)).toEqual({ code: 0, out: 'crosswalk serve would start with these settings.', err: '' })
      expect(existsSync(records)).toBe(false)
    })

    it('tells every problem in a line', async () => {
      const store = join(folder, 'no-store')
      writeFileSync(store, '{}')
      const { code, out, err } = await check(
        ...['--deadline-ms', 'x', '--mode', 'diff-v1', '--tls-key', '/nope', '--records-file', folder],
        ...['--store-url', `file:${store}`, '--store-cache', join(folder, 'nope', 'cache')],
      )
      expect({ code, out, lines: err.split('\n') }).toEqual({
        code: 2,
        out: '',
        lines: [
          'limits.deadlineMs is "x" in the flag --deadline-ms, but it must be a whole number from 1 to 3600000.',
          expect.stringMatching(/^upstream\.v2 is not set/),
          expect.stringMatching(/upstream\.v1/),
          'tls.key and tls.cert go together: set both, or none for plain text.',
          `records.file cannot be written: ${folder} is not a file.`,
          `store.cache cannot be written: ${join(folder, 'nope')} cannot be opened: there is no such file or folder.`,
          `store.url: ${store} is not a whole store of Crosswalk.`,
        ],
      })
    })

    it('says nothing further of a setting that is wrong already', async () => {
      const { code, err } = await check('--upstream-v2', 'nonsense')
      expect({ code, lines: err.split('\n') }).toEqual({ code: 2, lines: [expect.stringMatching(/^upstream\.v2 is "nonsense"/)] })
    })

    it('says that tables cannot be loaded', async () => {
      const { code, err } = await check(...V2, '--tables', join(folder, 'none.js'))
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('none.js cannot be loaded as tables') })
    })

    it.each([
      [['--port', '8000', '--admin-port', '8000'], 'listen.port and admin.port are both 8000'],
      [['--port', '8081', '--host', '0.0.0.0'], 'listen.port and admin.port are both 8081'],
      [['--port', '8081', '--host', 'localhost'], 'listen.port and admin.port are both 8081'],
      [['--port', '8000', '--workers', '2', '--admin-port', '8000'], 'listen.port and admin.port are both 8000'],
    ])('says that one port has two listeners: %j', async (argv, problem) => {
      const { code, err } = await check(...V2, ...argv)
      expect({ code, err }).toEqual({ code: 2, err: `${problem}, but a port has one listener; give each its own (0 = any).` })
    })

    it('says nothing of two ports that a process can open', async () => {
      for (const argv of [
        ['--port', '0', '--admin-port', '0'],
        ['--port', '8000', '--admin-port', '8000', '--host', '10.0.0.1'],
      ]) {
        expect(await check(...V2, ...argv)).toMatchObject({ code: 0, err: '' })
      }
    })

    it.each(['admin-token', 'admin-read-token', 'store-url', 'notify-url'])('names the file of --%s that cannot be read', async (name) => {
      const { code, err } = await check(...V2, `--${name}`, '@/nope/token')
      expect({ code, err }).toEqual({
        code: 2,
        err: expect.stringContaining('names a file that cannot be read: there is no such file or folder (/nope/token).'),
      })
    })

    it.each([
      ['-WRONGPASS invalid username-password pair or user is disabled.', 'refuses the user or the password of store.url'],
      ['-ERR unknown command', 'cannot be used: ERR unknown command'],
    ])('says that the store refuses: %s', async (answer, why) => {
      const store = createServer((socket) => {
        const refuse = (text: Buffer) => socket.write(`${answer}\r\n`.repeat(String(text).match(/^\*\d/gm)?.length ?? 0))
        socket.on('data', refuse).on('error', () => {})
      }).listen(0)
      await once(store, 'listening')
      const { port } = store.address() as AddressInfo
      const { code, err } = await check(...V2, '--store-url', `redis://:secret@127.0.0.1:${port}`)
      store.close()
      expect({ code, err }).toEqual({ code: 2, err: `store.url: the store at redis://127.0.0.1:${port} ${why}.` })
    })

    it('says nothing of a store that is not there', async () => {
      expect(await check(...V2, '--store-url', 'redis://127.0.0.1:1')).toMatchObject({ code: 0, err: '' })
    })

    it('knows the tables', async () => {
      const rule = JSON.stringify([{ operations: 'iam.roles.list', at: '/items/*/nam', reason: 'r', until: '2027-03-01' }])
      const { code, err } = await check(...V2, '--diff-ignore', rule)
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('did you mean "name"?') })
    })
  })
})

describe('compile cache', () => {
  const home = () => '/home/somebody'
  const noHome = () => {
    throw new Error('no such user')
  }

  it.each([
    ['the folder for caches of the user', { XDG_CACHE_HOME: '/var/cache' }, home, ['/var/cache/crosswalk']],
    ['the home, without such a folder', {}, home, ['/home/somebody/.cache/crosswalk']],
    ['the home, where the folder is no absolute path', { XDG_CACHE_HOME: 'cache' }, home, ['/home/somebody/.cache/crosswalk']],
    ['nowhere, for a user without a home', {}, noHome, []],
  ])('keeps what V8 compiled in %s', (_, env, home, expected) => {
    const folders: string[] = []
    keepCompiled(env, { enable: (folder) => folders.push(folder), home })
    expect(folders).toEqual(expected)
  })
})

describe('demo events', () => {
  it('shows an event of the sandbox that a request through the proxy caused', async () => {
    const lines: string[] = []
    let wake = () => {}
    let stop = () => {}
    const waitFor = async (fits: (line: string) => boolean): Promise<string> => {
      for (;;) {
        const found = lines.find(fits)
        if (found !== undefined) return found
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
    const code = run(['demo', '--http-sinks', '--port', '0', '--admin-port', '0', '--sandbox-port', '0', '--log-level', 'silent'], {
      ...{ env: {}, stdin: async () => '', err: () => {}, untilEscaped },
      out: (line) => {
        lines.push(line)
        wake()
      },
      untilStopped: () =>
        new Promise((resolve) => {
          stop = resolve
        }),
    })
    const post = async (fits: (line: string) => boolean) => {
      const [, token = '', body = '', url = ''] = /'Authorization: (.*?)' -X POST -d '(.*?)' '(.*?)'/.exec(await waitFor(fits)) ?? []
      return (await fetch(url, { method: 'POST', body, headers: { authorization: token } })).status
    }
    expect(await post((line) => line.includes('/events/v1/subscriptions/'))).toBe(200)
    expect(await post((line) => line.includes('/registry/v1/repos/'))).toBe(200)
    const event = await waitFor((line) => line.startsWith('event dev.chainguard.api.platform.registry.repo.created.v1, subject '))
    expect(event).toContain('"name":"hello"')
    const report = (await waitFor((line) => line.startsWith('  report '))).split(/\s+/).at(-1) ?? ''
    expect(report).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/report$/)
    const root = await fetch(new URL('/', report), { redirect: 'manual' })
    expect([root.status, root.headers.get('location')]).toEqual([302, '/report'])
    stop()
    expect(await code).toBe(0)
  })

  it('remembers what it counted where its settings say', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'crosswalk-demo-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const store = join(folder, 'store')
    const argv = ['--store-url', `file:${store}`, '--port', '0', '--admin-port', '0', '--sandbox-port', '0', '--log-level', 'silent']
    expect(await runCommand(['demo', ...argv])).toMatchObject({ code: 0, err: '' })
    expect(existsSync(store)).toBe(true)
  })

  it('refuses what is no event', async () => {
    const shown: string[] = []
    const { url, close } = await startReceiver((line) => shown.push(line))
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(400)
    expect((await fetch(url, { method: 'POST', body: 'x'.repeat(9000), headers: { 'ce-type': 'a', 'ce-subject': 'b' } })).status).toBe(204)
    expect(shown).toEqual([`event a, subject b: ${'x'.repeat(4096)}`])
    await close()
  })
})

describe('stay', () => {
  it('looks at everything that it watches at SIGHUP, and ends when it is asked to', async () => {
    const happened: string[] = []
    const note = (what: string) => () => void happened.push(what)
    const watch = (name: string) => ({ look: note(`look at ${name}`), end: note(`end ${name}`) })
    let hangUp = () => {}
    let stop = () => {}
    const io = {
      ...{ out: note('out'), err: note('err'), text: note('text'), env: {}, stdin: async () => '', untilEscaped },
      onHangup: (listener: () => void) => {
        hangUp = listener
      },
      untilStopped: () =>
        new Promise<void>((resolve) => {
          stop = resolve
        }),
    }
    const log = { fatal: note('fatal'), warn: () => {}, info: note('info') }
    const server = {
      async close() {
        hangUp()
        note('close')()
      },
    }
    const code = stay(server, log, io as never, [watch('settings'), watch('certificate')])
    hangUp()
    hangUp()
    stop()
    expect(await code).toBe(0)
    const looks = ['info', 'look at settings', 'look at certificate']
    expect(happened).toEqual([...looks, ...looks, 'end settings', 'end certificate', 'close'])
  })
})

describe('certificates that change while a start goes on', () => {
  it('are taken when they are looked at, and a half of them ends nothing', () => {
    const folder = mkdtempSync(join(tmpdir(), 'crosswalk-rotated-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const [key, cert] = [join(folder, 'tls.key'), join(folder, 'tls.crt')]
    copyFileSync('test/certificates/localhost.key', key)
    copyFileSync('test/certificates/localhost.crt', cert)
    const config = configWith({ 'tls.key': key, 'tls.cert': cert })
    const started = readTls(config)
    copyFileSync('test/certificates/other.key', key)
    const [errors, changes]: [string[], unknown[]] = [[], []]
    const watch = watchCertificates(config, started, { err: (line) => errors.push(line) }, () => changes.push('changed'))
    onTestFinished(watch.end)
    watch.look()
    expect([errors, changes]).toEqual([[expect.stringMatching(/^The certificates stay as they were\. /)], []])
    copyFileSync('test/certificates/other.crt', cert)
    watch.look()
    watch.look()
    expect([errors.length, changes]).toEqual([1, ['changed']])
  })
})

describe('tables of another API', () => {
  const LANGUAGE = resolve('src/tables/language.ts')

  let folder: string
  const written = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tables-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it('are the ones that commands speak of', async () => {
    const path = written(
      'things.ts',
      `import { list, resource, text, readOnly } from ${JSON.stringify(LANGUAGE)}
       const thing = resource('thing', { v2: '/v2/things', plural: 'things', fields: { id: readOnly('uid'), name: text('name') } })
       const operations = [list('shop.things.list', 'GET /shop/v1/things', thing, { query: { name: 'name' } })]
       export const tables = { name: 'shop', mappings: [{ domain: 'shop', operations }], differences: [], shapes: {} }`,
    )
    const { code, out } = await runCommand(['operations', '--tables', path, '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(out).map(({ id }: { id: string }) => id)).toEqual(['shop.things.list'])
    const explained = await runCommand(['explain', 'GET /shop/v1/things?name=a', '--tables', path])
    expect(explained.out).toContain('/v2/things?')
  })

  it.each([
    ['absent.ts', undefined, /absent\.ts cannot be loaded as tables: /],
    ['broken.ts', 'export const tables = {', /broken\.ts cannot be loaded as tables: /],
    ['other.ts', 'export const tables = []', /other\.ts exports no tables; export them as: /],
  ])('are refused with a sentence: %s', async (name, text, sentence) => {
    const path = text === undefined ? join(folder, name) : written(name, text)
    expect(await runCommand(['operations', '--tables', path])).toMatchObject({ code: 2, err: expect.stringMatching(sentence) })
  })
})
