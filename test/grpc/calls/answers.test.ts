import { dirname, join, normalize } from 'node:path'
import { status } from '@grpc/grpc-js'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Config } from '../../../src/app/config/settings.ts'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { ROWS_MEMORY } from '../../../src/tables/text/engine.ts'
import { runCommand } from '../../app/cli/support.ts'
import { START } from '../../sandbox/stage.ts'
import { sources } from '../../stage/sources.ts'
import { type Stage, startQuietSandbox, startStage } from '../../stage/stage.ts'
import { answering, startUpstream, type Upstream } from '../../stage/upstream.ts'
import { framed, startBareService } from '../client.ts'
import { type V1Client, v1Client } from '../v1-client.ts'

describe('beyond rest', () => {
  const RESOLVED = 'advisory.SecurityAdvisory/ListResolvedVulnsReports'
  const COUNTS = 'registry.Vulnerabilities/ListVulnCountReports'
  const at = (time: string | number) => ({ seconds: new Date(time).getTime() / 1000 })
  const DAYS = { from: at('2026-01-27T00:00:00Z'), to: at('2026-01-29T12:00:00Z') }
  const ASKED = { image_refs: [{ repo: 'nginx', tags: ['1.27'] }, { repo: 'nginx' }], ...DAYS }
  const COUNTED = { references: [{ repo: 'redis', tag: 'latest' }], from: at(START), to: at(START) }

  let sandbox: Sandbox

  beforeAll(async () => {
    sandbox = await startQuietSandbox({ now: START })
  })

  const clientWith = async (values: Partial<Config>) => {
    const proxy = await startStage({ v1: null, sandbox, proxy: values })
    const client = v1Client(proxy.url, sandbox.tokens.owner)
    return { proxy, client }
  }

  const genuine = async (name: string, message: object) => {
    const client = v1Client(sandbox.url, sandbox.tokens.owner)
    return (await client.call(name, message as never)).message
  }

  describe('resolved vulnerabilities, whose images only gRPC can carry', () => {
    it.each([
      ['v2 alone', undefined],
      ['v2, compared', 'diff-v2'],
      ['v1, compared', 'diff-v1'],
      ['v1', 'v1'],
    ] as const)('are answered by %s as v1 answers them', async (_, mode) => {
      const modes = mode && { default: mode, rules: [], testers: [] }
      const { client, proxy } = await clientWith(modes ? { 'upstream.v1': sandbox.url, modes } : {})
      const { code, message } = await client.call(RESOLVED, ASKED)
      expect(code).toBe(status.OK)
      expect(message).toEqual(await genuine(RESOLVED, ASKED))
      expect(message.items.at(-1).resolved_vulns[0].id).toBe('CVE-2026-90034')
      expect(await proxy.logged(({ path }) => String(path).endsWith(RESOLVED))).toMatchObject({
        operation: 'advisory.resolved_vulns.list',
        grpcStatus: 'OK',
      })
    })

    it.each(['diff-v1', 'diff-v2'] as const)('are unknown to the verdict in mode %s, until a person accepts them', async (mode) => {
      const accept = { reason: 'only gRPC says it', until: '2099-12-31' }
      const terms = [{ operations: 'advisory.resolved_vulns.list', accept }]
      for (const [operations, said] of [
        [[], /INCONCLUSIVE, because 100 % of its uses could not be compared.* 2 requests came over gRPC with what REST cannot carry/],
        [terms, /-- advisory\.resolved_vulns\.list is accepted without proof until 2099-12-31/],
      ] as const) {
        const modes = { default: mode, rules: [], testers: [] }
        const { client, proxy } = await clientWith({ 'upstream.v1': sandbox.url, modes, 'cutover.operations': operations })
        await client.call('iam.Groups/List', {})
        for (const _ of [1, 2]) expect((await client.call(RESOLVED, ASKED)).code).toBe(status.OK)
        await proxy.idle()
        const { out } = await runCommand(['cutover', '--admin', proxy.adminUrl])
        expect(out.replaceAll(/\s+/g, ' ')).toMatch(said)
      }
    })

    it('have the errors of v2 with the names of v1', async () => {
      const { client } = await clientWith({})
      const { code, text, trailers } = await client.call(RESOLVED, { image_refs: [{ repo: 'nginx' }], to: DAYS.to })
      expect([code, text]).toEqual([status.INVALID_ARGUMENT, 'Invalid argument: from: is required'])
      expect(String(trailers.get('grpc-status-details-bin')[0])).toContain('google.rpc.BadRequest')
      const stranger = await client.call(RESOLVED, ASKED, { metadata: { authorization: 'Bearer nobody' } })
      expect(stranger.code).toBe(status.UNAUTHENTICATED)
    })

    it('are an empty list where v2 has none', async () => {
      const { client } = await clientWith({})
      const { code, message } = await client.call(RESOLVED, { ...ASKED, from: at('2031-10-05T00:00:00Z'), to: at('2031-10-06T00:00:00Z') })
      expect([code, message.items ?? []]).toEqual([status.OK, []])
    })

    it('are an outage if v2 says NOT_FOUND and names nothing', async () => {
      const { client } = await clientWith({})
      const fault = { match: 'GET /advisory/v2/images/resolvedVulns', times: 1, status: 404 }
      await fetch(`${sandbox.url}/-/faults`, { method: 'POST', body: JSON.stringify(fault) })
      expect(await client.call(RESOLVED, ASKED)).toMatchObject({
        code: status.UNAVAILABLE,
        text: 'the v2 service answered NOT_FOUND without naming a missing resource',
      })
    })

    it('are refused with a sentence if v2 is asked over REST', async () => {
      const { client } = await clientWith({ 'upstream.v2Grpc': 'rest' })
      expect(await client.call(RESOLVED, ASKED)).toMatchObject({
        code: status.INVALID_ARGUMENT,
        text: 'REST cannot carry image_refs of ListResolvedVulnsReports; set upstream.v2Grpc to relay if v2 speaks gRPC',
      })
    })
  })

  describe('a method that only v1 has, with what only gRPC can carry', () => {
    it('is relayed to v1', async () => {
      const { client } = await clientWith({ 'upstream.v1': sandbox.url })
      const { code, message } = await client.call(COUNTS, COUNTED)
      expect(code).toBe(status.OK)
      expect(message).toEqual(await genuine(COUNTS, COUNTED))
      expect(message.items).toHaveLength(1)
    })

    it('is refused with a sentence if v1 is asked over REST', async () => {
      const { client } = await clientWith({ 'upstream.v1': sandbox.url, 'upstream.v1Grpc': 'rest' })
      expect(await client.call(COUNTS, COUNTED)).toMatchObject({
        code: status.UNIMPLEMENTED,
        text: 'REST cannot carry references of ListVulnCountReports; set upstream.v1Grpc to relay if v1 speaks gRPC',
      })
      expect((await client.call(COUNTS, { ...COUNTED, references: [], repo: 'redis', tag: 'latest' })).code).toBe(status.OK)
    })
  })
})

describe('lazy', () => {
  /** Imports that Node follows at once. `import type` is erased, and `import('…')` waits. */
  const EAGER = /(?:^|\n)(?:import|export)\s(?!type\b)[^'"]*?from\s+'([^']+)'/g

  /** What a file loads, and what that loads. Packages have their names. */
  function loadedBy(path: string, loaded = new Set<string>()): ReadonlySet<string> {
    const text = sources.find((source) => source.path === path)?.text ?? ''
    for (const [, name = ''] of text.matchAll(EAGER)) {
      const target = name.startsWith('.') ? normalize(join(dirname(path), name)) : name
      if (loaded.has(target)) continue
      loaded.add(target)
      loadedBy(target, loaded)
    }
    return loaded
  }

  const OF_CALLS = /^@bufbuild\/|^src\/grpc\/(?:proto-files|messages\/|encode\/|wire\/grpc|wire\/connect|calls\/(?!carrier))/

  const ofCalls = (path: string) => [...loadedBy(path)].filter((one) => OF_CALLS.test(one))

  it('loads what serves gRPC with the first call, and not at the start', () => {
    expect(ofCalls('src/app/server/server.ts')).toEqual([])
    expect(ofCalls('src/grpc/calls/calls.ts')).toEqual(expect.arrayContaining(['@bufbuild/protobuf', 'src/grpc/proto-files.ts']))
  })
})

describe('long answers', () => {
  /** Makes a list of groups a long answer of some 100 kB. A list of roles is short. */
  const LONG = 'x'.repeat(100_000)
  const uid = 'a'.repeat(40)

  let upstream: Upstream
  beforeAll(async () => {
    upstream = await startUpstream(answering({ groups: [{ uid, name: 'long', description: LONG }], roles: [{ uid, name: 'short' }] }))
  })

  async function clientOf(limits: Partial<Config>): Promise<V1Client> {
    return v1Client((await startStage({ v1: null, v2: upstream.url, proxy: limits })).url, 'a-token')
  }

  it('gives back the memory of long answers that clients have taken', async () => {
    // One answer may still be leaving when the next is made.
    const client = await clientOf({ 'limits.messagesBytes': 250_000 })
    for (const _ of '12345') expect(await client.call('iam.Groups/List')).toMatchObject({ code: status.OK })
  })

  it('refuses a long answer without room in limits.messagesBytes, and no short one', async () => {
    const client = await clientOf({ 'limits.messagesBytes': 80_000 })
    const refused = 'the long answers under way fill limits.messagesBytes; ask for a page, or ask again later'
    expect(await client.call('iam.Groups/List')).toMatchObject({ code: status.RESOURCE_EXHAUSTED, text: refused })
    expect(await client.call('iam.Roles/List')).toMatchObject({ code: status.OK })
  })

  it('refuses a long answer of a service over gRPC without room as soon as it has come so far', async () => {
    const begun = await startBareService((stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
      stream.write(framed(LONG).subarray(0, -1))
    })
    const modes = { default: 'v1' as const, rules: [], testers: [] }
    const client = await clientOf({ 'upstream.v1': begun.url, 'limits.messagesBytes': 150_000, modes })
    const [first, second] = [1, 2].map(() => client.begin('iam.Groups/List', {}, { timeout: 5000 }))
    const refused = await Promise.race([first?.called, second?.called])
    expect(refused).toMatchObject({ code: status.RESOURCE_EXHAUSTED, text: expect.stringContaining('limits.messagesBytes') })
    for (const call of [first, second]) call?.cancel()
  })

  it('uses the memory of rows again as soon as they are a message', async () => {
    const client = await clientOf({})
    const { message } = await client.call('iam.Groups/List')
    expect(message.items[0].description).toBe(LONG)
    // Memory of that size: what was given back last is taken first.
    expect(ROWS_MEMORY.take(LONG.length + 1000).toString('latin1')).toContain(LONG)
  })
})

describe('modes', () => {
  let stage: Stage
  let client: V1Client
  let root: string

  beforeAll(async () => {
    stage = await startStage({ proxy: { 'fallback.perMinute': 1000, 'diff.learnEvery': 0 } })
    client = v1Client(stage.url, stage.sandbox.tokens.owner)
    root = (await client.call('iam.Groups/List', { uidp: { in_root: true } })).message.items[0].id
  })

  beforeEach(async () => {
    await stage.idle()
    await stage.clearJournal()
  })
  afterEach(() => stage.clearFaults())

  /** The sides that were asked since the journal was cleared: `v1` over REST, `v1 gRPC`, `v2`. */
  async function asked(): Promise<readonly string[]> {
    await stage.idle()
    const sides = (await stage.journal()).map(({ path, ...entry }) => ('grpc' in entry ? 'v1 gRPC' : path.split('/')[2]))
    return [...new Set(sides)].sort() as string[]
  }

  async function evidenceOf(operation: string) {
    await stage.idle()
    return (await stage.evidence()).operations.find((one) => one.operation === operation)
  }

  describe('a read', () => {
    it.each([
      ['v2', ['v2']],
      ['v1', ['v1 gRPC']],
      ['diff-v1', ['v1', 'v2']],
      ['diff-v2', ['v1', 'v2']],
    ] as const)('in mode %s has the same answer', async (mode, sides) => {
      const before = await client.call('registry.Registry/ListRepos', {})
      await stage.setModes({ default: mode })
      await stage.idle()
      await stage.clearJournal()
      const { code, message } = await client.call('registry.Registry/ListRepos', {})
      expect([code, message]).toEqual([status.OK, before.message])
      expect(await asked()).toEqual(sides)
    })

    it.each([
      ['diff-v1', 'iam.Roles/List', 'iam.roles.list'],
      ['diff-v2', 'iam.Identities/List', 'iam.identities.list'],
    ] as const)('in mode %s is compared as a read over REST is, and counted as evidence', async (mode, method, operation) => {
      await stage.setModes({ default: mode })
      await client.call(method, {})
      expect(await evidenceOf(operation)).toMatchObject({ matches: 1, mismatches: 0 })
    })

    it('falls back to v1 if v2 fails', async () => {
      await stage.setModes({ default: 'v2' })
      await stage.fault({ match: 'GET /iam/v2/roles', status: 500 })
      const { code, message } = await client.call('iam.Roles/List', {}, { metadata: { 'x-request-id': 'fell' } })
      expect([code, message.items.length > 0]).toEqual([status.OK, true])
      expect(await stage.logged(({ reqId }) => reqId === 'fell')).toMatchObject({ mode: 'fallback', grpcStatus: 'OK' })
    })

    it('falls back to v1 if v2 does not answer within limits.deadlineMs, and the client waits', async () => {
      const own = await startStage({ proxy: { 'fallback.perMinute': 1000, 'limits.deadlineMs': 500 } })
      const ofOwn = v1Client(own.url, own.sandbox.tokens.owner)
      await own.setModes({ default: 'v2' })
      await own.fault({ match: 'GET /iam/v2/roles', delayMs: 60_000 })
      const { code, message } = await ofOwn.call('iam.Roles/List', {}, { metadata: { 'x-request-id': 'slow' } })
      expect([code, message.items.length > 0]).toEqual([status.OK, true])
      expect(await own.logged(({ reqId }) => reqId === 'slow')).toMatchObject({ mode: 'fallback', grpcStatus: 'OK' })
    })

    it('obeys a tester’s choice of mode', async () => {
      await stage.setModes({ default: 'v2', testers: ['*'] })
      await client.call('iam.Roles/List', {}, { metadata: { 'x-crosswalk-mode': 'v1' } })
      expect(await asked()).toEqual(['v1 gRPC'])
    })
  })

  describe('a write', () => {
    it.each(['v1', 'v2', 'diff-v1', 'diff-v2'] as const)('in mode %s reaches one side', async (mode) => {
      await stage.setModes({ default: mode })
      const { code, message } = await client.call('iam.Groups/Create', { parent: root, group: { name: `in-${mode}` } })
      expect(code).toBe(status.OK)
      await stage.idle()
      const writes = (await stage.journal()).filter(({ method, path }) => method === 'POST' && !path.includes('List'))
      expect(writes).toHaveLength(1)
      await client.call('iam.Groups/Delete', { id: message.id })
    })
  })

  it('reads a write back through both sides, and counts what it sees as evidence', async () => {
    await stage.setModes({ default: 'diff-v2' })
    const { message } = await client.call('iam.Groups/Create', { parent: root, group: { name: 'read-back' } })
    expect(await evidenceOf('iam.groups.create')).toMatchObject({ mismatches: 0 })
    expect((await evidenceOf('iam.groups.create'))?.matches).toBeGreaterThan(0)
    await client.call('iam.Groups/Delete', { id: message.id })
  })

  it('says UNKNOWN to a write whose answer is too long, because v1 has done it', async () => {
    const own = await startStage({ sandbox: stage.sandbox, mode: 'v1', proxy: { 'limits.answerBytes': 1 } })
    const ownClient = v1Client(own.url, stage.sandbox.tokens.owner)
    const { code } = await ownClient.call('iam.Groups/Create', { parent: root, group: { name: 'too-long' } })
    expect(code).toBe(status.UNKNOWN)
  })

  it('gives the callers of a canary to v2', async () => {
    await stage.setModes({
      default: 'v1',
      rules: [{ operations: 'iam.roles.*', clients: '*', mode: 'v1', canary: { percent: 100, mode: 'v2' } }],
    })
    await client.call('iam.Roles/List', {})
    expect(await asked()).toEqual(['v2'])
  })

  it('has v1 answer a method that v2 lacks', async () => {
    await stage.setModes({ default: 'v2' })
    const { code } = await client.call('libraries.Malware/ListBlockList', {}, { metadata: { 'x-request-id': 'v1-only' } })
    // The genuine v1 of the sandbox has no such data, so that its own refusal comes back.
    expect([code, await asked()]).toEqual([status.UNIMPLEMENTED, ['v1 gRPC']])
    const line = await stage.logged(({ reqId }) => reqId === 'v1-only')
    expect(line).toMatchObject({ operation: 'libraries.malware.list_block_list', mode: 'v1', grpcStatus: 'UNIMPLEMENTED' })
  })
})
