import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { getGlobalDispatcher, ProxyAgent, setGlobalDispatcher } from 'undici'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { mappings } from '../../../mappings/index.ts'
import { lacksFixes } from '../../../src/app/cli/command.ts'
import { COMMANDS } from '../../../src/app/cli/run.ts'
import { fileWithin, opened, smallFile } from '../../../src/files.ts'
import { readEntries } from '../../../src/migrate/records/record-file.ts'
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts'
import type { OperationRow } from '../../../src/tools/explore.ts'
import { openTraffic } from '../../../src/tools/replay/traffic.ts'
import { listening } from '../../stage/programs.ts'
import { answering, startUpstream } from '../../stage/upstream.ts'
import { runCommand } from './support.ts'

describe('commands', () => {
  const WRONG_RULE = JSON.stringify([{ operations: 'iam.roles.list', at: '/items/*/nam', reason: 'r', until: '2027-03-01' }])
  const WRONG_MEMBER = 'diff.ignore.0.at: no answer of iam.roles.list has "/items/*/nam"; did you mean "name"?'

  describe('the command line', () => {
    it('lists its commands', async () => {
      for (const argv of [[], ['--help'], ['-h'], ['help']]) {
        const { code, out } = await runCommand(argv)
        expect(code).toBe(0)
        for (const word of ['demo', 'serve', 'sandbox token', 'operations', 'explain']) expect(out).toContain(`crosswalk ${word}`)
      }
    })

    it.each(Object.entries(COMMANDS))('calls %s by the first words of its usage', async (words, load) => {
      expect(`${(await load()).usage} `.startsWith(`${words} `)).toBe(true)
    })

    it('prints its version', async () => {
      const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
      for (const flag of ['--version', '-v', '-V']) expect(await runCommand([flag])).toEqual({ code: 0, out: version, err: '' })
    })

    it.each(['demo', 'serve', 'sandbox', 'operations', 'explain'])('explains %s', async (command) => {
      const { code, out } = await runCommand([command, '--help'], { CROSSWALK_ADMIN_TOKEN: 'HIDDEN-from-everybody' })
      expect([code, out.includes('HIDDEN')]).toEqual([0, false])
      expect(out).toMatch(new RegExp(`^crosswalk ${command}[^]*--help`))
    })

    it.each([
      [['serv'], 'There is no command "serv"; did you mean "serve"?'],
      [['zebra'], 'There is no command "zebra"; crosswalk --help lists the commands.'],
      [['serve', '--upstrem-v2', 'x'], 'crosswalk serve has no flag --upstrem-v2; did you mean "--upstream-v2"?'],
      [['serve', '--zebra', 'x'], 'crosswalk serve has no flag --zebra; crosswalk serve --help lists its flags.'],
      [['serve', 'more'], 'crosswalk serve takes no arguments, and "more" is one more. Usage: crosswalk serve'],
      [['serve', '--port', '1', '--port', '2'], 'crosswalk serve takes --port once; leave one out.'],
      [
        ['config', '--admin-token', 'HIDDEN-HIDDEN-1', '--admin-token=HIDDEN-HIDDEN-2'],
        'crosswalk config takes --admin-token once; leave one out.',
      ],
      [['case', 'a', 'b'], 'crosswalk case takes one argument, and "b" is one more. Usage: crosswalk case ID'],
      [['explain'], "crosswalk explain needs METHOD /path?query. Usage: crosswalk explain 'METHOD /path?query'"],
      [['sandbox', 'tokn'], 'crosswalk sandbox has no command "tokn"; did you mean "token"?'],
      [['help', 'serv'], 'There is no command "serv", and no section of the settings; did you mean "serve"?'],
      [['help', 'sandbox', 'zebra'], 'crosswalk sandbox has no command "zebra"; it has token.'],
      [['serve', '-p', '80'], 'crosswalk serve has no flag -p; crosswalk serve --help lists its flags.'],
      [['serve', '-port', '80'], 'crosswalk serve has no flag -port; did you mean "--port"?'],
      [['serve', '--port'], 'crosswalk serve needs a value for --port: --port PORT.'],
      [['serve', '--mode'], 'crosswalk serve needs a value for --mode: --mode v1|v2|diff-v1|diff-v2.'],
      [
        ['serve', '--host', '--port', '80'],
        'crosswalk serve needs a value for --host, and --port looks like a flag; if it is the value, write --host=--port',
      ],
      [['operations', '--json=yes'], 'crosswalk operations takes no value for --json; leave out "=yes".'],
      [
        ['serve', '--mode', 'dif-v1'],
        'modes is "dif-v1" in the flag --mode, but it must be a mode (v1, v2, diff-v1, diff-v2) or an object {"default", "rules", "testers"}; did you mean "diff-v1"?',
      ],
      [
        ['serve', '--dialect', 'publishd'],
        'v1.dialect is "publishd" in the flag --dialect, but it must be one of specification, published; did you mean "published"?',
      ],
      [['serve'], 'upstream.v2 is not set: give the base address of the v2 service with --upstream-v2, CROSSWALK_UPSTREAM_V2 or the file.'],
      [['serve', '--port', 'x'], 'listen.port is "x" in the flag --port, but it must be a whole number from 0 to 65535.'],
      [['demo', '--tags', '0'], 'tags is "0" in the flag --tags, but it must be a whole number from 1 to 1000000.'],
      [
        ['sandbox', '--data', 'x'],
        'data is "x" in the flag --data, but it must be one of demo, empty, large, or a file whose name ends in .json.',
      ],
      [['explain', 'GET'], `"GET" is not of the form 'METHOD /path?query'.`],
      [['serve', '--upstream-v2', 'http://v2.example', '--diff-ignore', WRONG_RULE], WRONG_MEMBER],
      [['demo', '--sandbox-port', '0', '--diff-ignore', WRONG_RULE], WRONG_MEMBER],
      [['report', 'none', '--diff-ignore', WRONG_RULE], WRONG_MEMBER],
    ])('rejects %j with exit code 2 and one sentence', async (argv, err) => {
      expect(await runCommand(argv)).toEqual({ code: 2, out: '', err })
    })

    it('treats a wrong environment variable as misuse too', async () => {
      const { code, err } = await runCommand(['sandbox'], { CROSSWALK_SANDBOX_PORT: 'x' })
      expect(code).toBe(2)
      expect(err).toContain('in the environment variable CROSSWALK_SANDBOX_PORT')
    })
  })

  describe('operations', () => {
    const operations = mappings.flatMap((mapping) => mapping.operations)

    it('lists those of the tables, each with its kind', async () => {
      const rows = JSON.parse((await runCommand(['operations', '--json'])).out) as OperationRow[]
      expect(rows.map(({ id, kind }) => [id, kind])).toEqual(operations.map(({ id, kind }) => [id, kind]))
      for (const { kind, calls, because } of rows) expect(kind === 'v1-only' ? because : calls.length).toBeTruthy()
    })

    it('is readable without --json', async () => {
      const { out } = await runCommand(['operations'])
      expect(out).toContain('registry.vuln_reports.list  v1-only\n  v1  GET /registry/v1/vuln_reports\n  because ')
      expect(out).toContain('ping.ping.ping  direct\n  v1  GET /ping/v1/ping\n  v2  GET /ping/v2/ping')
    })
  })

  it('names a port that is taken in one sentence', async () => {
    const taken = net.createServer()
    const { port } = await listening(taken)
    const sentence = `Port ${port} of 127.0.0.1 is taken; stop what listens there or choose another port (0 = any).`
    const argv = ['--port', String(port), '--admin-port', '0']
    expect(await runCommand(['serve', '--upstream-v2', 'http://127.0.0.1:1', ...argv])).toEqual({ code: 1, out: '', err: sentence })
    expect(await runCommand(['sandbox', '--port', String(port)])).toEqual({ code: 1, out: '', err: sentence })
    expect(await runCommand(['demo', '--sandbox-port', '0', ...argv])).toEqual({ code: 1, out: '', err: sentence })
    await new Promise((resolve) => taken.close(resolve))
  })

  describe('sandbox token', () => {
    let sandbox: Sandbox
    beforeAll(async () => {
      sandbox = await startSandbox({ port: 0 })
    })
    afterAll(() => sandbox.close())

    const mint = (...flags: string[]) => runCommand(['sandbox', 'token', '--url', sandbox.url, ...flags])
    const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    const groups = (token: string) => fetch(`${sandbox.url}/iam/v2/groups`, { headers: { authorization: `Bearer ${token}` } })

    it('prints an access token of a demo user', async () => {
      const { code, out } = await mint()
      expect(code).toBe(0)
      expect((await groups(out)).status).toBe(200)
      expect(claimsOf((await mint('--as', 'viewer')).out).sub).not.toBe(claimsOf(out).sub)
    })

    it('prints an access token of an identity', async () => {
      const { sub } = claimsOf((await mint()).out)
      expect(claimsOf((await mint('--identity', sub)).out).sub).toBe(sub)
    })

    it('prints an identity token of a subject', async () => {
      const { out } = await mint('--subject', 'ci', '--issuer', `${sandbox.url}/ci`, '--audience', 'aud', '--lifetime', '60')
      const { iss, sub, aud, iat, exp } = claimsOf(out)
      expect({ iss, sub, aud, seconds: exp - iat }).toEqual({ iss: `${sandbox.url}/ci`, sub: 'ci', aud: 'aud', seconds: 60 })
    })

    it('writes a token for another address to a file, as the Terraform provider reads it', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'token-'))
      const file = join(folder, 'chainguard/http:--127.0.0.1:8080/oidc-token')
      const audience = 'http://127.0.0.1:8080'
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, 'an older token', { mode: 0o644 })
      expect(await mint('--audience', audience, '--file', file)).toEqual({ code: 0, out: '', err: '' })
      const token = readFileSync(file, 'utf8')
      expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
      const { sub, aud, iss, exp } = claimsOf(token)
      expect([aud, iss, Number.isInteger(exp), statSync(file).mode & 0o777]).toEqual([audience, sandbox.url, true, 0o600])
      expect((await groups(token)).status).toBe(200)
      expect(claimsOf((await mint('--identity', sub, '--audience', audience)).out).aud).toBe(audience)
      rmSync(folder, { recursive: true })
    })

    it("prints the sandbox's reason for a refusal", async () => {
      expect(await mint('--identity', 'none')).toMatchObject({ code: 1, err: expect.stringMatching(/^The sandbox refused: /) })
      const err = 'crosswalk sandbox token takes no --as ownr; did you mean "owner"?'
      expect(await mint('--as', 'ownr')).toEqual({ code: 2, out: '', err })
    })

    it('requires a running sandbox', async () => {
      const { code, err } = await runCommand(['sandbox', 'token', '--url', 'http://127.0.0.1:1'])
      expect({ code, err }).toEqual({
        code: 1,
        err: 'No sandbox answers on http://127.0.0.1:1; start one with crosswalk demo or crosswalk sandbox, or give its address with --url.',
      })
    })
  })
})

describe('direct', () => {
  it('asks the admin port directly, whatever proxy Node takes from the environment', async () => {
    const asked: (string | undefined)[] = []
    const proxy = http.createServer((request, response) => {
      asked.push(request.url)
      response.writeHead(502).end()
    })
    proxy.on('connect', (request, socket) => {
      asked.push(request.url)
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
    })
    const { url } = await listening(proxy)
    const admin = await startUpstream((_, response) => response.setHeader('content-type', 'application/json').end('[]'))
    const before = getGlobalDispatcher()
    // NODE_USE_ENV_PROXY does this in Node 24.
    setGlobalDispatcher(new ProxyAgent(url))
    onTestFinished(async () => {
      setGlobalDispatcher(before)
      proxy.close()
    })
    await fetch(admin.url).catch(() => {})
    expect(asked).toHaveLength(1)
    expect(await runCommand(['rollouts', '--admin', admin.url])).toMatchObject({ code: 0, out: 'No rule has a rollout.' })
    expect(asked).toHaveLength(1)
  })
})

describe('node version', () => {
  const COLLIDING = 'one request of ten thousand numbers as texts stops everybody for a tenth of a second'

  it.each([
    ['v20.19.0', 'Node 20.19.0 has had no security fixes since April 2026; Node 24 is recommended'],
    ['v20.20.2', 'Node 20.20.2 has had no security fixes since April 2026; Node 24 is recommended'],
    ['v22.22.1', `on Node 22.22.1 ${COLLIDING}; 22.22.2 has the fix`],
    ['v24.4.0', `on Node 24.4.0 ${COLLIDING}; 24.14.1 has the fix`],
    ['v22.23.3', 'one packet over HTTP/2 ends every server on Node 22.23.3; 22.23.2 and Node 24 do not have that fault'],
    ['v22.22.2', undefined],
    ['v22.23.2', undefined],
    ['v24.14.1', undefined],
    ['v24.21.0', undefined],
    ['v26.0.0', undefined],
    ['v200.0.0', undefined],
  ])('says about Node %s: %j', (version, sentence) => expect(lacksFixes(version)).toBe(sentence))
})

describe('pipes', () => {
  let folder: string
  let pipes = 0
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'crosswalk-pipes-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  /** Makes a pipe with a name. */
  function pipe(): string {
    pipes += 1
    const path = join(folder, `${pipes}.json`)
    execFileSync('mkfifo', [path])
    return path
  }

  /** Writes to a pipe from another process, after a while. */
  function written(path: string, text: string): void {
    const file = `${path}.text`
    writeFileSync(file, text)
    execFile('sh', ['-c', `sleep 0.2; cat ${file} > ${path}`])
  }

  const SOON = 100

  describe('a pipe to which nobody writes', () => {
    it('ends in a sentence', async () => {
      const path = pipe()
      const sentence = `${path} is a pipe to which nobody writes`
      await expect(opened(path, SOON)).rejects.toThrow(sentence)
      expect(() => smallFile(path, SOON)).toThrow(sentence)
    })

    it('is still a pipe for whoever comes later', async () => {
      const path = pipe()
      await expect(opened(path, SOON)).rejects.toThrow('nobody writes')
      written(path, 'late')
      expect(String(await fileWithin(path, 100))).toBe('late')
    })
  })

  describe('a pipe whose writer comes later', () => {
    const TEXT = 'a line\n'.repeat(20_000)

    it('is read whole as a file, and bounded as one', async () => {
      const [whole, long] = [pipe(), pipe()]
      written(whole, TEXT)
      expect(String(await fileWithin(whole, TEXT.length))).toBe(TEXT)
      written(long, TEXT)
      await expect(fileWithin(long, TEXT.length - 1)).rejects.toThrow(`${long} has more than ${TEXT.length - 1} bytes`)
    })

    it('is read whole as a file of settings', () => {
      const path = pipe()
      written(path, TEXT)
      expect(smallFile(path)).toBe(TEXT)
    })

    it('is read as records and as traffic', async () => {
      const [records, traffic] = [pipe(), pipe()]
      written(records, `${JSON.stringify({ kind: 'note', at: '2027-01-01T00:00:00.000Z', what: 'epoch', text: 'epoch 1 begins' })}\n`)
      const texts: unknown[] = []
      for await (const entry of readEntries(records)) texts.push(entry.kind)
      expect(texts).toEqual(['note'])
      written(traffic, TEXT)
      const { beginning, close } = await openTraffic(traffic)
      expect(beginning.slice(0, 7)).toBe('a line\n')
      await close()
    })

    it('is the configuration file of a command that reads it more than once', async () => {
      const config = pipe()
      written(config, '{ "upstream": { "v2": "http://127.0.0.1:1" }, "listen": { "port": 0 }, "admin": { "port": 0 } }')
      expect(await runCommand(['serve', '--config', config, '--log-level', 'silent'])).toMatchObject({ code: 0, err: '' })
    })

    it('is a configuration file and a document of a command', async () => {
      const [config, data] = [pipe(), pipe()]
      written(config, '{ "upstream": { "v2": "http://127.0.0.1:1" }, "port": "none" }')
      const { code, err } = await runCommand(['serve', '--check', '--config', config])
      expect([code, err]).toEqual([2, expect.stringContaining(`${config} has an unknown key "port"`)])
      written(data, '{"name":"of a pipe"}')
      const explained = await runCommand(['explain', 'POST /iam/v1/groups', '--data', data])
      expect(explained.out).toContain('of a pipe')
    })
  })
})

describe('filters', () => {
  const operations = mappings.flatMap((mapping) => mapping.operations)
  const listed = async (...argv: string[]) => JSON.parse((await runCommand(['operations', ...argv, '--json'])).out) as OperationRow[]

  describe('operations lists', () => {
    it.each(['iam.groups', 'iam.groups.*', 'iam.groups.list', '*.list'])('those that %s fits', async (pattern) => {
      const ids = (await listed(pattern)).map(({ id }) => id)
      const begin = pattern.replaceAll('*', '')
      expect(ids).toEqual(operations.map(({ id }) => id).filter((id) => (pattern === '*.list' ? id.endsWith(begin) : id.startsWith(begin))))
      expect(ids).not.toEqual([])
    })

    it('those of a kind, and totals at the end', async () => {
      const kind = operations.filter((one) => one.kind === 'emulated')
      expect((await listed('--kind', 'emulated')).map(({ id }) => id)).toEqual(kind.map(({ id }) => id))
      const { out } = await runCommand(['operations', '--kind', 'emulated'])
      expect(out.split('\n').at(-1)).toBe(`${kind.length} operations: ${kind.length} emulated`)
      expect((await runCommand(['operations'])).out.split('\n').at(-1)).toMatch(
        /^\d+ operations: \d+ direct, \d+ composed, \d+ emulated, \d+ v1-only$/,
      )
    })

    it.each([
      [['iamm'], '"iamm" fits no operation; did you mean "iam"?'],
      [['iam.group.list'], '"iam.group.list" fits no operation; did you mean "iam.groups.list"?'],
      [['--kind', 'emulatd'], 'crosswalk operations takes no --kind emulatd; did you mean "emulated"?'],
    ])('nothing for %j', async (argv, err) => {
      expect(await runCommand(['operations', ...argv])).toEqual({ code: 2, out: '', err })
    })
  })

  describe('clients lists', () => {
    const use = (operation: string) => ({ operation, calls: 1, firstSeen: 0, lastSeen: 0, modes: ['v2'], mismatches: 0 })
    const client = (caller: string, calls: number, ...used: string[]) => ({
      ...{ caller, calls, lastSeen: 0, mismatches: 0, couldMove: true, blockers: [], cautions: [] },
      operations: used.map(use),
    })
    const ask = async (...argv: string[]) => {
      const known = [client('aa', 1, 'iam.groups.list'), client('bb', 7, 'iam.groups.list'), client('cc', 3, 'registry.repos.list')]
      const { url, close } = await startUpstream(answering(known))
      onTestFinished(close)
      return runCommand(['clients', '--admin', url, ...argv])
    }
    const callersIn = (json: string) => (JSON.parse(json) as readonly { caller: string }[]).map(({ caller }) => caller)

    it('those with the most calls', async () => {
      expect(callersIn((await ask('--top', '2', '--json')).out)).toEqual(['bb', 'cc'])
      expect((await ask('--top', '1')).out.split('\n').at(-1)).toMatch(/^3 clients, 11 calls: \d could call v2 without v1$/)
    })

    it('those that call an operation', async () => {
      expect(callersIn((await ask('--operations', 'iam', '--json')).out).sort()).toEqual(['aa', 'bb'])
      expect((await ask('--operations', 'iam.groupz')).err).toBe('"iam.groupz" fits no operation; did you mean "iam.groups"?')
      expect((await ask('--top', 'x')).err).toBe('--top is "x", but it must be a whole number from 1 to 9999999.')
    })
  })

  it('replay --top shortens its lists', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'crosswalk-top-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'access.log')
    const paths = ['/iam/v1/groups', '/iam/v1/groups', '/iam/v1/roles', '/registry/v1/repos']
    writeFileSync(path, paths.map((one) => `192.0.2.1 - ci [10/Oct/2026:15:55:00 +0200] "GET ${one} HTTP/1.1" 200 5 "-" "-"\n`).join(''))
    const { out } = await runCommand(['replay', path, '--top', '1'])
    expect(out).toMatch(/^operations\n {2}iam\.groups\.list .*\n {2}and 2 more$/m)
    expect((await runCommand(['replay', path])).out).not.toContain('more')
  })
})
