import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { status } from '@grpc/grpc-js'
import protojson from 'protobufjs/ext/protojson.js'
import type { Message } from 'protobufjs/light.js'
import { describe, expect, test } from 'vitest'
import { readPublishedFacts } from '../../src/sandbox/grpc/protos.ts'
import { grpcApi } from '../../src/sandbox/grpc/server.ts'
import { createRouter } from '../../src/sandbox/http/route.ts'
import { serviceRoutes, startSandbox } from '../../src/sandbox/start.ts'
import { framed, grpcClient, rawClient } from './grpc-client.ts'
import { column, running, START } from './stage.ts'

describe('calls', () => {
  const { sandbox, get } = running()
  const { call } = grpcClient(() => sandbox().url)

  const roleNamed = async (name: string): Promise<string> => (await call('/chainguard.platform.iam.Roles/List', { name })).json.items[0].id

  test('serves a v1 list with the content of REST', async () => {
    const groups = await call('/chainguard.platform.iam.Groups/List')
    const { items } = (await get('/iam/v1/groups')).json
    expect(groups.code).toBe(0)
    expect(column(groups.json.items, 'name')).toEqual(column(items, 'name'))
  })

  test('journals a call as the REST request of its http rule', async () => {
    await call('/chainguard.platform.registry.Registry/ListRepos', { uidp: { inRoot: true }, name: 'nginx' })
    expect((await get('/-/journal')).json.at(-1)).toEqual({
      method: 'GET',
      path: '/registry/v1/repos',
      query: { 'uidp.in_root': 'true', name: 'nginx' },
      body: null,
      grpc: '/chainguard.platform.registry.Registry/ListRepos',
      at: new Date(START).toISOString(),
    })
  })

  test('creates, changes and deletes in v1', async () => {
    const repos = '/chainguard.platform.registry.Registry'
    const parentId = sandbox().organization
    const created = await call(`${repos}/CreateRepo`, { parentId, repo: { name: 'by-grpc', bundles: ['base'] } }, { token: 'demo-admin' })
    expect(created.json).toMatchObject({ name: 'by-grpc', bundles: ['base'] })
    const { id } = created.json
    const updated = await call(`${repos}/UpdateRepo`, { id, name: 'by-grpc', catalogTier: 'BASE' }, { token: 'demo-admin' })
    expect(updated.json).toMatchObject({ id, catalogTier: 'BASE' })
    expect(updated.json).not.toHaveProperty('bundles')
    const deleted = await call(`${repos}/DeleteRepo`, { id })
    expect([deleted.code, deleted.bytes.length]).toEqual([0, 0])
    expect((await call(`${repos}/ListRepos`, { id })).json).toEqual({})
  })

  test.each(['v2', 'v2beta1'])('writes in %s what the mask names, or what is set without one', async (version) => {
    const groups = `/chainguard.platform.iam.${version}.GroupsService`
    const group = { name: 'by-grpc', description: 'first' }
    const { uid } = (await call(`${groups}/CreateGroup`, { parent: sandbox().organization, group })).json
    const update = async (request: object) => (await call(`${groups}/UpdateGroup`, request)).json
    expect(await update({ group: { uid, name: 'renamed' } })).toMatchObject({ name: 'renamed', description: 'first' })
    const masked = await update({ group: { uid, name: 'ignored' }, updateMask: 'description' })
    expect(masked).toMatchObject({ name: 'renamed' })
    expect(masked).not.toHaveProperty('description')
    const wrong = await call(`${groups}/UpdateGroup`, { group: { uid }, updateMask: 'colour' })
    expect(wrong).toMatchObject({ code: 3, message: 'Invalid argument: update_mask: unknown path "colour"' })
    expect((await call(`${groups}/DeleteGroup`, { uid })).code).toBe(0)
    expect((await call(`${groups}/GetGroup`, { uid })).code).toBe(5)
  })

  test('carries durations, maps with numbers as keys, and long numbers', async () => {
    const group = sandbox().organization
    const invite = await call('/chainguard.platform.iam.GroupInvites/Create', { group, ttl: '60.500s', role: await roleNamed('viewer') })
    expect([invite.code, invite.json.expiration]).toEqual([0, new Date(START + 60_500).toISOString()])
    const github = { appInstallations: { 7: { installations: [{ installationId: '9007199254740993', name: 'app' }] } } }
    const path = '/chainguard.platform.iam.GroupAccountAssociations'
    await call(`${path}/Delete`, { group })
    expect((await call(`${path}/Create`, { group, name: 'cloud', github })).json).toMatchObject({ github })
  })

  test('publishes the event of a write', async () => {
    const { json } = await call('/chainguard.platform.iam.Groups/Create', { parent: sandbox().organization, group: { name: 'told' } })
    const deliveries: readonly object[] = (await get('/-/deliveries')).json
    expect(deliveries).toContainEqual(expect.objectContaining({ type: 'dev.chainguard.api.iam.group.created.v1', subject: json.id }))
  })
})

describe('grpc alone', () => {
  const { sandbox, get } = running()
  const { call } = grpcClient(() => sandbox().url)

  const V1 = '/chainguard.platform.advisory.SecurityAdvisory/ListResolvedVulnsReports'
  const V2 = '/chainguard.platform.advisory.v2.SecurityAdvisoryService/ListResolvedVulnsReports'

  const from = '2026-01-27T00:00:00Z'
  const to = '2026-01-29T12:00:00Z'

  /** The ids of each day's report. */
  const idsOf = (reports: readonly { readonly date: string; readonly resolvedVulns?: readonly { readonly id: string }[] }[]) =>
    reports.map(({ date, resolvedVulns = [] }) => [date.slice(0, 10), resolvedVulns.map(({ id }) => id)])

  test('lists the vulnerabilities that were resolved in images, alike in both versions', async () => {
    const imageRefs = [{ repo: 'nginx' }, { repo: 'nowhere' }]
    const v1 = (await call(V1, { imageRefs, from, to })).json
    const v2 = (await call(V2, { imageRefs, startTime: from, endTime: to })).json
    expect(idsOf(v1.items)).toEqual(idsOf(v2.resolvedVulnsReports))
    expect(idsOf(v1.items)).toEqual([
      ['2026-01-27', []],
      ['2026-01-28', expect.arrayContaining(['CVE-2026-90027', 'CVE-2026-90015'])],
      ['2026-01-29', ['CVE-2026-90034']],
    ])
    const severities = (list: { resolvedVulns: { cvssSeverities: unknown }[] }[]) => list.at(-1)?.resolvedVulns[0]?.cvssSeverities
    expect([severities(v1.items), severities(v2.resolvedVulnsReports)]).toEqual([
      [{ type: 'CVSS_V3', score: '5.3' }],
      [{ type: 'TYPE_CVSS_V3', score: '5.3' }],
    ])
  })

  test('limits resolved vulnerabilities to the named tags', async () => {
    const { json } = await call(V1, { imageRefs: [{ repo: 'nginx', tags: ['latest'] }], from, to })
    expect(idsOf(json.items).map(([, ids]) => ids)).toEqual([[], [], []])
  })

  test('shows no resolved vulnerabilities of a repo that the caller may not see', async () => {
    const { json } = await call(V1, { imageRefs: [{ repo: 'nginx' }], from, to }, { token: 'demo-outsider' })
    expect(idsOf(json.items).map(([, ids]) => ids)).toEqual([[], [], []])
  })

  test('journals what REST cannot carry as the body', async () => {
    await call(V2, { imageRefs: [{ repo: 'nginx' }], startTime: to, endTime: to })
    const { query, body } = (await get('/-/journal')).json.at(-1)
    expect({ query, body }).toEqual({ query: { start_time: to, end_time: to }, body: { imageRefs: [{ repo: 'nginx' }] } })
  })

  test('reports centuries before an image in the time of its own days', async () => {
    const days = { startTime: '1800-01-01T00:00:00Z', endTime: '1999-12-31T00:00:00Z' }
    const { json } = await call(V2, { imageRefs: [{ repo: 'python' }], ...days })
    expect(json.resolvedVulnsReports).toHaveLength(73_048)
  }, 10_000)

  test('requires images and both ends of resolved vulnerabilities', async () => {
    expect(await call(V1)).toMatchObject({
      code: status.INVALID_ARGUMENT,
      message: 'Invalid argument: image_refs: is required; from: is required; to: is required',
    })
    expect(await call(V2, { imageRefs: [{}], endTime: to })).toMatchObject({ message: 'Invalid argument: start_time: is required' })
  })

  test('counts the vulnerabilities of several tags', async () => {
    const path = '/chainguard.platform.registry.Vulnerabilities/ListVulnCountReports'
    const day = { from: new Date(START).toISOString(), to: new Date(START).toISOString() }
    const one = (await call(path, { repo: 'nginx', tag: 'latest', ...day })).json.items
    const other = (await call(path, { references: [{ repo: 'redis', tag: 'latest' }], ...day })).json.items
    expect([one.length, other.length]).toEqual([1, 1])
    expect((await call(path, { repo: 'nginx', references: [{ repo: 'redis' }], ...day })).json.items).toEqual([...one, ...other])
    expect((await call(path, { references: [{ tag: 'latest' }] })).message).toBe('Invalid argument: repo: is required')
  })
})

describe('same content', () => {
  const { sandbox, get } = running({ v1Dialect: 'published' })
  const { call } = grpcClient(() => sandbox().url)
  const router = createRouter(serviceRoutes)

  /** The reads without a variable in the path that the sandbox serves. */
  const reads = Object.entries(readPublishedFacts().services).flatMap(([service, methods]) =>
    Object.keys(methods).flatMap((name) => {
      const path = `/${service}/${name}`
      const { rule } = grpcApi().find(path)!
      return rule?.method === 'GET' && rule.variables.length === 0 && router.named('GET', rule.template, [])
        ? [{ path, template: rule.template }]
        : []
    }),
  )

  /** Page tokens are new for each answer. */
  const masked = (json: unknown): unknown => JSON.parse(JSON.stringify(json), (name, value) => (name === 'nextPageToken' ? 'next' : value))

  test.each(reads)('answers $path with the content of REST', async ({ path, template }) => {
    const { output } = grpcApi().find(path)!
    const [rest, grpc] = await Promise.all([get(template), call(path)])
    expect([grpc.code, grpc.message]).toEqual(rest.status === 200 ? [0, ''] : [rest.json.code, rest.json.message])
    // Every member of REST has its place in the message: an unknown one would throw here.
    if (rest.status === 200) expect(masked(grpc.json)).toEqual(masked(protojson.toJson(output, protojson.fromJson(output, rest.json))))
  })
})

describe('two protocols', () => {
  const { sandbox } = running()

  test('tells HTTP/1.1 from HTTP/2 however few bytes arrive at once', async () => {
    const socket = connect(sandbox().port, '127.0.0.1').setNoDelay(true)
    for (const byte of 'POST /iam/v2/groups HTTP/1.1\r\nhost: x\r\n') {
      socket.write(byte)
      await new Promise(setImmediate)
    }
    socket.write('content-length: 0\r\nconnection: close\r\n\r\n')
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1\.1 401 /)
    socket.destroy()
  })

  test('closes connections that never said a word, and idle ones of HTTP/2', async () => {
    const other = await startSandbox({ port: 0 })
    const silent = connect(other.port, '127.0.0.1')
    await once(silent, 'connect')
    await rawClient(() => other.url).send('/chainguard.platform.iam.Groups/List', framed(Buffer.alloc(0)))
    const closed = once(
      silent.on('error', () => {}),
      'close',
    )
    await other.close()
    await closed
  })

  test('loads nothing of gRPC before the first connection of HTTP/2', () => {
    const files = readdirSync('src/sandbox', { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.startsWith('grpc/'),
    )
    const texts = files.map((file) => readFileSync(`src/sandbox/${file}`, 'utf8'))
    expect(texts.flatMap((text) => text.match(/^import .*\/grpc\/.*/gm) ?? [])).toEqual([])
    expect(texts.filter((text) => text.includes("await import('../grpc/"))).toHaveLength(1)
  })
})

describe('vectors', () => {
  /** A message as the vendor's Go types write it; `defaultNames` are JSON's own names, where some differ from those of the proto. */
  type Vector = { readonly hex: string; readonly json: unknown; readonly defaultNames?: unknown }
  type Vectors = { readonly messages: Readonly<Record<string, { readonly vectors: readonly Vector[] }>> }

  const { root } = grpcApi()

  /** Go writes the members of oneofs last, protobufjs writes every field by its number. */
  const sameBytes = (one: Buffer, other: Buffer): boolean => Buffer.compare(one.toSorted(), other.toSorted()) === 0

  const problemsOf = (name: string, { hex, json, defaultNames }: Vector): readonly string[] => {
    const type = root.lookupType(name)
    const written = (message: Message): Buffer => Buffer.from(type.encode(message).finish())
    const bytes = Buffer.from(hex, 'hex')
    const read = type.decode(bytes)
    const shown = protojson.toJson(type, read)
    const again = written(protojson.fromJson(type, json))
    const checks = {
      'writes other bytes': again.equals(written(read)) && sameBytes(again, bytes),
      'reads its own JSON otherwise': again.equals(written(protojson.fromJson(type, shown))),
      'shows other JSON': defaultNames === undefined || isDeepStrictEqual(shown, defaultNames),
    }
    return Object.entries(checks).flatMap(([problem, holds]) => (holds ? [] : [`${name} ${hex}: ${problem}`]))
  }

  test.each(['v1', 'v2'])('reads and writes the messages of %s byte for byte as the vendor does', (version) => {
    const { messages }: Vectors = JSON.parse(readFileSync(`test/grpc/vectors/${version}.json`, 'utf8'))
    const all = Object.entries(messages).flatMap(([name, { vectors }]) => vectors.flatMap((vector) => problemsOf(name, vector)))
    expect(all).toEqual([])
  })
})
