import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { mappings } from '../../../mappings/index.ts'
import { readFacts } from '../../../src/grpc/facts.ts'
import { openRpc } from '../../../src/grpc/proto-files.ts'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { cases } from '../../contract/cases/index.ts'
import { type Carried, type Client, carried, compare, grpcClient } from '../../contract/rpc/call.ts'
import { type Sides, startSides } from '../../contract/stage.ts'
import type { Case, Target } from '../../contract/target.ts'
import { hasProgram, temporaryFolder } from '../../stage/programs.ts'
import { startProxy, startQuietSandbox, type TestProxy } from '../../stage/stage.ts'
import { lineClient, run } from './clients.ts'

describe('go', () => {
  const CERT = 'test/certificates/localhost.crt'
  const KEY = 'test/certificates/localhost.key'

  /** 30,000 tags are 6 MB: more than the 4 MiB that clients of gRPC take by default. */
  const TAGS = 30_000

  describe.runIf(hasProgram('go', 'version'))('clients in Go', () => {
    let sandbox: Sandbox
    const proxies: TestProxy[] = []
    let setting: string

    const start = async (values: Parameters<typeof startProxy>[0]) => {
      const proxy = await startProxy({ 'upstream.v2': sandbox.url, ...values })
      proxies.push(proxy)
      return proxy.url
    }

    beforeAll(async () => {
      sandbox = await startQuietSandbox({ data: 'large', tags: TAGS })
      const relay = await start({})
      const rest = await start({ 'upstream.v2Grpc': 'rest', 'grpc.v2beta1': 'v2' })
      const renamed = await start({ 'grpc.v2beta1': 'v2' })
      const secure = (await start({ 'tls.cert': CERT, 'tls.key': KEY })).replace('127.0.0.1', 'localhost')
      const headers = { authorization: `Bearer ${sandbox.tokens.owner}` }
      const large = await (await fetch(`${relay}/registry/v1/repos?name=large`, { headers })).json()
      setting = JSON.stringify({
        Token: sandbox.tokens.owner,
        Organization: sandbox.organization,
        LargeRepo: (large as { items: [{ id: string }] }).items[0].id,
        LargeTags: TAGS,
        Targets: {
          relay: { URL: relay, Versions: ['v1', 'v2', 'v2beta1'] },
          rest: { URL: rest, Versions: ['v1', 'v2', 'v2beta1'] },
          renamed: { URL: renamed, Versions: ['v2beta1'] },
          tls: { URL: secure, Versions: ['v1', 'v2'] },
        },
      })
    })

    afterAll(async () => {
      for (const proxy of proxies) await proxy.close()
      await sandbox.close()
    })

    it('passes every cycle with grpc-go', async () => {
      const env = { CROSSWALK_INTEROP: setting, SSL_CERT_FILE: `${process.cwd()}/${CERT}` }
      const { code, text } = await run('go', ['test', '-count=1', '-v', './...'], { env })
      console.log(text)
      expect(text).not.toContain('--- SKIP')
      expect(code, text).toBe(0)
      const asked = (await (await fetch(`${sandbox.url}/-/journal`)).json()) as readonly { readonly path: string }[]
      expect(asked.filter(({ path }) => !path.includes('/v2/'))).toEqual([])
    })
  })
})

describe('health', () => {
  /** The probe asks as the gRPC probes of Kubernetes do. */
  describe.runIf(hasProgram('grpc-health-probe', '-version'))('the health probe of gRPC', () => {
    let sandbox: Sandbox
    let proxy: TestProxy
    let unready: TestProxy

    beforeAll(async () => {
      sandbox = await startQuietSandbox({})
      proxy = await startProxy({ 'upstream.v2': sandbox.url })
      unready = await startProxy({ 'upstream.v2': 'http://127.0.0.1:1' })
    })

    afterAll(async () => {
      await proxy?.close()
      await unready?.close()
      await sandbox?.close()
    })

    const probe = (of: TestProxy, service: string) => run('grpc-health-probe', ['-addr', new URL(of.url).host, '-service', service])

    it('finds the process and its services healthy', async () => {
      for (const service of ['', 'chainguard.platform.iam.Groups']) {
        expect(await probe(proxy, service)).toMatchObject({ code: 0, text: expect.stringContaining('SERVING') })
      }
    })

    it('fails for an unknown service, and before the process is ready', async () => {
      const [unknown, early] = [await probe(proxy, 'other'), await probe(unready, '')]
      expect([unknown.text, early.text]).toEqual([expect.stringContaining('NotFound'), expect.stringContaining('NOT_SERVING')])
      expect([unknown.code, early.code]).not.toContain(0)
    })
  })
})

describe('reflection', () => {
  const GROUPS = 'chainguard.platform.iam.Groups'

  /** Command-line clients that learn the messages from the proxy itself, by reflection. */
  describe.runIf(hasProgram('grpcurl', '-version') && hasProgram('buf', '--version'))('clients with reflection', () => {
    let sandbox: Sandbox
    let proxy: TestProxy
    let host: string
    let token: string

    beforeAll(async () => {
      sandbox = await startQuietSandbox({})
      proxy = await startProxy({ 'upstream.v2': sandbox.url })
      host = new URL(proxy.url).host
      token = `authorization: Bearer ${sandbox.tokens.owner}`
    })

    afterAll(async () => {
      await proxy?.close()
      await sandbox?.close()
    })

    const printed = async (program: string, ...args: readonly string[]) => {
      const { code, text } = await run(program, args)
      expect(code, text).toBe(0)
      return text
    }

    it('lists and describes services with grpcurl', async () => {
      const services = (await printed('grpcurl', '-plaintext', host, 'list')).split('\n')
      expect(services).toEqual(expect.arrayContaining([GROUPS, 'chainguard.platform.iam.v2.GroupsService', 'grpc.health.v1.Health']))
      expect(await printed('grpcurl', '-plaintext', host, 'describe', `${GROUPS}.List`)).toContain('.chainguard.platform.iam.GroupFilter')
    })

    it('calls v1 and v2, and reads a refusal with grpcurl', async () => {
      const call = (...args: readonly string[]) => run('grpcurl', ['-plaintext', '-H', token, ...args])
      const made = await call('-d', JSON.stringify({ parent: sandbox.organization, group: { name: 'grpcurl' } }), host, `${GROUPS}/Create`)
      expect(JSON.parse(made.text)).toMatchObject({ name: 'grpcurl' })
      const listed = await call('-d', '{"name":"grpcurl"}', host, 'chainguard.platform.iam.v2.GroupsService/ListGroups')
      expect(JSON.parse(listed.text)).toMatchObject({ groups: [{ uid: JSON.parse(made.text).id }] })
      const refused = await call('-d', JSON.stringify({ parent: sandbox.organization }), host, `${GROUPS}/Create`)
      expect(refused.text).toContain('Code: InvalidArgument')
      expect(refused.text).toContain('"@type": "type.googleapis.com/google.rpc.ErrorInfo"')
      expect(await printed('grpcurl', '-plaintext', host, 'grpc.health.v1.Health/Check')).toContain('SERVING')
    })

    it('calls v1 with buf curl by reflection', async () => {
      const options = ['--http2-prior-knowledge', '--protocol', 'grpc', '-H', token, '-d', '{}', `${proxy.url}/${GROUPS}/List`]
      expect(JSON.parse(await printed('buf', 'curl', ...options))).toMatchObject({ items: expect.any(Array) })
    })

    // buf would ask for reflection in the same protocol, and streams need gRPC. So it gets the descriptors that reflection gave to grpcurl.
    it.each(['grpcweb', 'connect'])('calls v1 over %s with buf curl', async (protocol) => {
      const folder = temporaryFolder('descriptors')
      onTestFinished(folder.remove)
      const schema = join(folder.path, 'groups.binpb')
      await printed('grpcurl', '-plaintext', '-protoset-out', schema, host, 'describe', GROUPS)
      const options = ['--schema', schema, '--protocol', protocol, '-H', token, '-d', '{}', `${proxy.url}/${GROUPS}/List`]
      for (const transport of [[], ['--http2-prior-knowledge']]) {
        expect(JSON.parse(await printed('buf', 'curl', ...transport, ...options))).toMatchObject({ items: expect.any(Array) })
      }
    })
  })
})

describe('sdk', () => {
  /** Compiling the SDK without a cache takes minutes. */
  const COMPILING_MS = 540_000

  /** Served methods that this version of the SDK does not have. */
  const WITHOUT_CLIENT = [
    '/chainguard.platform.iam.IdentityProviders/GenerateScimToken',
    '/chainguard.platform.iam.IdentityProviders/RegenerateScimToken',
    '/chainguard.platform.iam.IdentityProviders/RevokeScimToken',
    '/chainguard.platform.iam.IdentityProviders/SetScimEnabled',
    '/chainguard.platform.registry.Registry/GetRepoTagsSummary',
  ]

  /** The contract as the vendor's SDK sees it: each side is asked by the SDK's clients, which have logged in at that address. */
  describe.runIf(hasProgram('go', 'version'))("the v1 contract over the vendor's Go SDK", () => {
    const folder = temporaryFolder('sdk')
    const program = join(folder.path, 'sdk')
    /** The methods for which the SDK has a client, and those that were called through Crosswalk. */
    let known: ReadonlySet<string>
    const called = new Set<string>()
    let sides: Sides
    let genuine: Carried
    let proxied: Carried

    /** A method that the SDK does not have is called by grpc-js. */
    const sdkClient = ({ url, token }: Target, seen = new Set<string>()): Client => {
      const refused = [token('stranger'), token('expired')].filter((one) => one !== undefined)
      const sdk = lineClient(spawn(program, [url, ...refused], { stdio: ['pipe', 'pipe', 'inherit'] }))
      const other = grpcClient(url)
      return {
        call(asked, ...more) {
          const { path } = asked.method
          if (!known.has(path)) return other.call(asked, ...more)
          seen.add(path)
          return sdk.call(asked, ...more)
        },
        close() {
          sdk.close()
          other.close()
        },
      }
    }

    beforeAll(async () => {
      const { code, text } = await run('go', ['build', '-o', program, './sdk'], { limitMs: COMPILING_MS })
      expect(code, text).toBe(0)
      known = new Set(JSON.parse((await run(program, [])).text))
      sides = await startSides('published')
      genuine = carried({ ...sides.genuine, run: 'sdk' }, sdkClient(sides.genuine))
      proxied = carried({ ...sides.proxied, run: 'sdk' }, sdkClient(sides.proxied, called))
    }, COMPILING_MS)

    afterAll(async () => {
      for (const side of [genuine, proxied]) side?.close()
      await sides?.close()
      folder.remove()
    })

    const published = cases.filter(({ dialect = 'published' }) => dialect === 'published')
    const check = (one: Case) => compare(one, genuine, proxied)

    it.each(published.filter(({ reads }) => reads))('$name', check)
    it.concurrent.each(published.filter(({ reads }) => !reads))('$name', check)

    it('has called every served method', () => {
      const { methods } = openRpc(
        mappings.flatMap(({ operations }) => operations),
        readFacts(),
      )
      const served = methods.filter(({ version, operation }) => version === 'v1' && operation?.begin)
      const paths = served.map(({ path }) => path)
      expect(paths.filter((path) => known.has(path) && !called.has(path))).toEqual([])
      expect(paths.filter((path) => !known.has(path)).sort()).toEqual(WITHOUT_CLIENT)
    })
  })
})
