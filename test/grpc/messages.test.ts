import { fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf'
import { describe, expect, it } from 'vitest'
import { ApiError, invalidArgument } from '../../src/errors.ts'
import { messageOf } from '../../src/grpc/messages/message-of.ts'
import { requestOf, sameCall } from '../../src/grpc/messages/request-of.ts'
import { statusOfAnswer, statusOfError } from '../../src/grpc/messages/status-of.ts'
import type { RpcMethod, RpcVersion } from '../../src/grpc/proto-files.ts'
import type { WireStatus } from '../../src/grpc/wire/call.ts'
import { type Answer, BEGIN } from '../../src/serve/answer.ts'
import { drawFrom, methodOf, randomJson, rpc } from './messages.ts'

describe('message of', () => {
  const list = methodOf('iam.Groups/List')
  const limits = { messageBytes: 1_000_000 }
  const rows = Array.from({ length: 3 }, (_, at) => ({
    id: `id${at}`,
    name: `naïve "[${at}]`,
    description: '\\',
    kind: 'ORG_KIND_CUSTOMER',
  }))

  async function* streamOf(pieces: readonly Uint8Array[]) {
    for (const piece of pieces) yield piece
  }

  function cut(text: string, size: number): readonly Uint8Array[] {
    const bytes = Buffer.from(text)
    return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
  }

  const own = (batches: readonly (readonly unknown[])[], end = ']}') => [
    BEGIN,
    ...batches.map((batch, at) => Buffer.from((at > 0 ? ',' : '') + batch.map((row) => JSON.stringify(row)).join(','))),
    Buffer.from(end),
  ]

  const answer = (body: object): Answer => ({ status: 200, headers: {}, ...body }) as Answer

  const written = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('latin1')

  async function hexOf(given: Answer, method = list): Promise<string> {
    return Buffer.concat(await messageOf(method, given, 'proto', limits)).toString('hex')
  }

  const library = (json: unknown, { output } = list) =>
    Buffer.from(toBinary(output, fromJson(output, json as JsonValue, { ignoreUnknownFields: true }))).toString('hex')

  const wholeText = JSON.stringify({ items: rows })

  it.each<[string, Answer]>([
    ['a value', answer({ body: { items: rows } })],
    ['a short text', answer({ text: written({ items: rows }) })],
    ['a short text with spaces', answer({ text: Buffer.from(JSON.stringify({ items: rows }, null, 1)).toString('latin1') })],
    ['a short text with another list', answer({ text: written({ items: rows, bundles: [{}] }) })],
    ['pieces of whole rows', answer({ text: own([rows.slice(0, 1), rows.slice(1)]) })],
    ['a stream of whole rows', answer({ stream: streamOf(own([rows.slice(0, 2), rows.slice(2)])) })],
    ['a stream that is cut anywhere', answer({ stream: streamOf(cut(wholeText, 7)) })],
    [
      'a stream that begins as our own and is cut anywhere',
      answer({ stream: streamOf([Buffer.from(BEGIN), ...cut(wholeText.slice(BEGIN.length), 7)]) }),
    ],
    ['unknown members', answer({ body: { items: rows.map((row) => ({ ...row, colour: 'red' })), more: 1 } })],
  ])('makes one message from %s', async (_, given) => {
    expect(await hexOf(given)).toBe(library({ items: rows }))
  })

  it('writes the members around a list in the order of their numbers', async () => {
    const advisories = methodOf('vulnerabilities.v1.Advisories/List')
    const items = [{ id: 'a' }, { id: 'b' }]
    const given = answer({ text: own([items], '],"nextPageToken":"t","id":"i","totalCount":2}') })
    expect(await hexOf(given, advisories)).toBe(library({ items, id: 'i', nextPageToken: 't', totalCount: 2 }, advisories))
  })

  it('makes no bytes of an empty answer', async () => {
    const remove = methodOf('iam.Groups/Delete')
    expect(await hexOf(answer({ body: {} }), remove)).toBe('')
    expect(await hexOf(answer({ text: '{"items":[]}' }))).toBe('')
    expect(await hexOf(answer({ stream: streamOf(own([])) }))).toBe('')
  })

  it('reads a long foreign stream row by row, wherever it is cut', async () => {
    const many = Array.from({ length: 3000 }, (_, at) => ({ ...rows[at % 3], id: `${at}`, resourceLimits: { '}]"': at } }))
    const text = JSON.stringify({ items: many, other: { items: [1] } }, null, 1)
    for (const size of [1000, 65_537, 299_999]) {
      expect(await hexOf(answer({ stream: streamOf(cut(text, size)) }))).toBe(library({ items: many }))
    }
  })

  it('refuses a wrong row of a long foreign stream before the stream ends', async () => {
    async function* endless() {
      yield Buffer.from('{ "items": [ {"name": {}}')
      for (;;) yield Buffer.from(`, ${JSON.stringify({ ...rows[0], description: 'd'.repeat(10_000) })}`)
    }
    const message = () => messageOf(list, answer({ stream: endless() }), 'proto', { messageBytes: 1_000_000 })
    await expect(message()).rejects.toMatchObject({ code: 'INTERNAL' })
  })

  it('writes the names and forms of protojson for a client that wants JSON', async () => {
    const json = async (given: Answer) => JSON.parse(Buffer.concat(await messageOf(list, given, 'json', limits)).toString()) as unknown
    const items = rows.map((row) => ({ ...row, verified: false, resource_limits: { a: 1 }, colour: 'red' }))
    const wanted = { items: rows.map((row) => ({ ...row, resourceLimits: { a: 1 } })) }
    expect(await json(answer({ body: { items } }))).toEqual(wanted)
    expect(await json(answer({ text: own([items.slice(0, 2), items.slice(2)], '],"x":1}') }))).toEqual(wanted)
    expect(await json(answer({ text: own([]) }))).toEqual({})
    expect(await json(answer({ stream: streamOf([]) }))).toEqual({})
  })

  it.each<[string, Answer]>([
    ['no JSON', answer({ text: '<html>' })],
    ['a list', answer({ body: [] })],
    ['a truncated list', answer({ stream: streamOf(own([rows], '')) })],
    ['a member of another type', answer({ body: { items: [{ name: 1 }] } })],
    ['a time that is none', answer({ body: { items: [{ name: {} }] } })],
  ])('refuses %s as an answer', async (_, given) => {
    const refusal = { code: 'INTERNAL', message: 'the answer is not a chainguard.platform.iam.GroupList' }
    const message = async () => messageOf(list, given, 'proto', limits)
    await expect(message()).rejects.toMatchObject(refusal)
  })

  it.each<[string, (endless: AsyncIterable<Uint8Array>) => Answer]>([
    ['rows', (stream) => answer({ stream })],
    ['pieces of one row', (stream) => answer({ stream: skipFirst(stream) })],
  ])('stops a stream whose %s are more than the limit', async (_, given) => {
    let count = 0
    let isOver = false
    async function* endless() {
      try {
        yield Buffer.from('{"items":[')
        for (;;) {
          count += 1
          yield Buffer.from(JSON.stringify(rows[0]))
        }
      } finally {
        isOver = true
      }
    }
    await expect(messageOf(list, given(endless()), 'proto', { messageBytes: 2000 })).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' })
    expect([isOver, count < 100]).toEqual([true, true])
  })

  async function* skipFirst(stream: AsyncIterable<Uint8Array>) {
    let isFirst = true
    for await (const piece of stream) {
      if (!isFirst) yield piece
      isFirst = false
    }
  }

  it('passes on what a stream breaks with', async () => {
    async function* broken() {
      yield Buffer.from('{"items":[')
      throw new RangeError('broken')
    }
    await expect(messageOf(list, answer({ stream: broken() }), 'proto', limits)).rejects.toThrow(RangeError)
  })
})

describe('request of', () => {
  function asked(name: string, json: JsonValue, codec: 'proto' | 'json' = 'proto') {
    const method = methodOf(name)
    const bytes = codec === 'json' ? Buffer.from(JSON.stringify(json)) : toBinary(method.input, fromJson(method.input, json))
    const { body, unsaid, unsaidText, ...request } = requestOf(method, bytes, codec)
    return { ...request, ...(body && { body: JSON.parse(body.toString()) as unknown }), ...(unsaid.length > 0 && { unsaid, unsaidText }) }
  }

  it.each<[title: string, name: string, json: JsonValue, url: string]>([
    ['an empty message', 'iam.Groups/List', {}, '/iam/v1/groups'],
    ['a text', 'iam.Groups/List', { name: 'a & b=ç/😀' }, '/iam/v1/groups?name=a%20%26%20b%3D%C3%A7%2F%F0%9F%98%80'],
    ['the zero value of a text', 'iam.Groups/List', { name: '' }, '/iam/v1/groups'],
    [
      'a message within a message',
      'iam.Groups/List',
      { uidp: { descendantsOf: 'a/b', inRoot: true, ids: ['c', 'd'] } },
      '/iam/v1/groups?uidp.descendants_of=a%2Fb&uidp.in_root=true&uidp.ids=c&uidp.ids=d',
    ],
    [
      'a time and a flag',
      'registry.Registry/ListTags',
      { updatedSince: '2026-11-22T08:09:10.5Z', excludeReferrers: true },
      '/registry/v1/tags?updated_since=2026-11-22T08%3A09%3A10.500Z&exclude_referrers=true',
    ],
  ])('puts %s into the query', (_, name, json, url) => {
    expect(asked(name, json)).toEqual({ method: 'GET', url })
  })

  it('keeps the slashes of a uid in the path and encodes the rest', () => {
    expect(asked('iam.Roles/Delete', { id: 'a1/b 2/ç?' })).toEqual({ method: 'DELETE', url: '/iam/v1/roles/a1/b%202/%C3%A7%3F' })
  })

  it.each([
    ['', 'must not be empty'],
    ['sha256:a/b', 'must not have a slash: it is one segment of a path'],
  ])('refuses %j as a variable of one segment', (digest, problem) => {
    expect(() => asked('registry.Registry/GetSize', { repoId: 'a/b', digest })).toThrow(`Invalid argument: digest: ${problem}`)
  })

  it('puts the field of the rule into the body, and what remains into path and query', () => {
    const create = asked('registry.Registry/CreateRepo', {
      parentId: 'a/b',
      preventExisting: true,
      repo: { name: 'n', sync_config: { source: 's' } },
    })
    expect(create).toEqual({
      method: 'POST',
      url: '/registry/v1/repos/a/b?prevent_existing=true',
      body: { name: 'n', sync_config: { source: 's' } },
    })
  })

  it('sends an empty body for a message that is unset', () => {
    expect(asked('iam.Groups/Create', {})).toEqual({ method: 'POST', url: '/iam/v1/groups/', body: {} })
  })

  it('takes a nested variable out of the body, and the paths of a mask as the proto names them', () => {
    const method = rpc.find('/chainguard.platform.iam.v2.GroupsService/UpdateGroup')!
    const json = { group: { uid: 'a/b', name: 'n' }, updateMask: 'name,resourceLimits' }
    const { url, body } = requestOf(method, toBinary(method.input, fromJson(method.input, json)), 'proto')
    expect([url, body?.toString()]).toEqual(['/iam/v2/groups/a/b?updateMask=name%2Cresource_limits', '{"name":"n"}'])
  })

  it('names the lists of messages that no query can say', () => {
    const json = { imageRefs: [{ repo: 'a' }], from: '2026-01-01T00:00:00Z' }
    expect(asked('advisory.SecurityAdvisory/ListResolvedVulnsReports', json)).toEqual({
      method: 'GET',
      url: '/advisory/v1/images/resolved_vulns?from=2026-01-01T00%3A00%3A00Z',
      unsaid: ['image_refs'],
      unsaidText: 'image_refs=%7B%22repo%22%3A%22a%22%7D',
    })
  })

  it('drops fields that the message does not have', () => {
    const { input, ...method } = methodOf('iam.Groups/List')
    const bytes = Buffer.concat([Buffer.from([0xfa, 0x3e, 0x01, 0x61]), toBinary(input, fromJson(input, { name: 'a' }))])
    expect(requestOf({ input, ...method }, bytes, 'proto').url).toBe('/iam/v1/groups?name=a')
    expect(asked('iam.Groups/List', { name: 'a', colour: 'red' }, 'json').url).toBe('/iam/v1/groups?name=a')
  })

  function codeOf(step: () => unknown): readonly [string, string] {
    try {
      step()
    } catch (error) {
      const { code, message } = error as ApiError
      return [code, message]
    }
    return ['OK', '']
  }

  it.each([
    ['a truncated message', [0x1a, 0x05, 0x61]],
    ['a text that is not UTF-8', [0x1a, 0x02, 0xc3, 0x28]],
    ['a wrong end of a group', [0x0c]],
  ])('says of %s what servers of gRPC say', (_, bytes) => {
    const wanted = ['INTERNAL', 'grpc: error unmarshalling request']
    expect(codeOf(() => requestOf(methodOf('iam.Groups/List'), Buffer.from(bytes), 'proto'))).toEqual(wanted)
  })

  it('says of such bytes over Connect what its servers say', () => {
    const refusal = codeOf(() => requestOf(methodOf('iam.Groups/List'), Buffer.from([0xff]), 'proto', { protocol: 'connect' }))
    expect(refusal).toEqual(['INVALID_ARGUMENT', 'the request is not a chainguard.platform.iam.GroupFilter'])
  })

  it('takes no text for an empty message', () => {
    expect(requestOf(methodOf('iam.Groups/List'), Buffer.alloc(0), 'json').url).toBe('/iam/v1/groups')
  })

  it.each(['null', '{', '[]', '{"name":1}', '{"name":"\ud800"}', '"\xff"'])('refuses %j as JSON of a message', (text) => {
    const refusal = codeOf(() => requestOf(methodOf('iam.Groups/List'), Buffer.from(text, 'latin1'), 'json'))
    expect(refusal).toEqual(['INVALID_ARGUMENT', expect.stringMatching(/not JSON of chainguard.platform.iam.GroupFilter|not JSON: /)])
  })

  it('refuses a time that JSON cannot write', () => {
    const seconds = Buffer.from([0x1a, 0x07, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f])
    const [code] = codeOf(() => requestOf(methodOf('registry.Registry/ListTags'), seconds, 'proto'))
    expect(code).toBe('INVALID_ARGUMENT')
  })

  it.each([
    ['a path', 'iam.Groups/Delete', { id: 'a/'.repeat(600) }, /"field":"id","description":"is longer than a URL may be \(1000 bytes\)"/],
    ['a path of one segment', 'libraries.Artifacts/ListVersions', { id: '%'.repeat(1001) }, /is longer than a URL/],
    ['the path of a request with a body', 'iam.Groups/Update', { id: 'a'.repeat(1001), name: 'n' }, /is longer than a URL/],
    ['a query of megabytes', 'iam.Groups/List', { name: '%'.repeat(2 ** 21) }, /the message is longer than any query/],
  ])('refuses %s that is longer than any URL, in both codecs', (_, name, json, message) => {
    const method = methodOf(name)
    const bytes = { proto: toBinary(method.input, fromJson(method.input, json)), json: Buffer.from(JSON.stringify(json)) }
    for (const codec of ['proto', 'json'] as const) {
      let said = ''
      try {
        requestOf(method, bytes[codec], codec, { pathBytes: 1000 })
      } catch (error) {
        const { code, message, details } = error as ApiError
        said = `${code} ${message} ${JSON.stringify(details)}`
      }
      expect(said).toMatch(/^INVALID_ARGUMENT /)
      expect(said).toMatch(message)
    }
  })

  it('takes a long text in the body, but none that JSON writes six times as long', () => {
    const { input, ...method } = methodOf('iam.Groups/Create')
    const bytes = (text: string) => toBinary(input, fromJson(input, { group: { name: text } }))
    expect(requestOf({ input, ...method }, bytes('a'.repeat(2 ** 21)), 'proto', { pathBytes: 1000 }).body?.length).toBeGreaterThan(2 ** 21)
    const [code] = codeOf(() => requestOf({ input, ...method }, bytes('\u0001'.repeat(2 ** 21)), 'proto', { pathBytes: 1000 }))
    expect(code).toBe('RESOURCE_EXHAUSTED')
  })

  it('says that a method without a rule has no request', () => {
    const [code] = codeOf(() => requestOf(methodOf('iam.GroupInvites/CreateWithGroup'), Buffer.alloc(0), 'proto'))
    expect(code).toBe('UNIMPLEMENTED')
  })

  it('keeps the reads of methods and messages apart', () => {
    const bytes = Buffer.from('0a0161', 'hex')
    const urls = ['iam.Groups/List', 'iam.Roles/List', 'iam.Groups/List'].map((name) => requestOf(methodOf(name), bytes, 'proto').url)
    expect(urls).toEqual(['/iam/v1/groups?id=a', '/iam/v1/roles?id=a', '/iam/v1/groups?id=a'])
    requestOf(methodOf('libraries.Artifacts/ListVersions'), bytes, 'proto')
    const others = Buffer.concat([Buffer.from('Versions'), bytes])
    const refusal = codeOf(() => requestOf(methodOf('libraries.Artifacts/List'), others, 'proto'))
    expect(refusal).toEqual(['INTERNAL', 'grpc: error unmarshalling request'])
  })
})

describe('rest message', () => {
  const SEED = 4711

  function requestFrom(method: RpcMethod, json: unknown) {
    const bytes = toBinary(method.input, fromJson(method.input, json as JsonValue))
    const { method: verb, url, body } = requestOf(method, bytes, 'proto')
    return { method: verb, url, body: body?.toString() }
  }

  /** Gives a value to each variable of the path, so that the request leads to its method. */
  function named({ input, rule }: RpcMethod, json: Record<string, unknown>): unknown {
    for (const [, name = ''] of rule?.template.matchAll(/\{([^{}=]+)/g) ?? []) {
      const [first = '', second] = name.split('.')
      const key = input.fields.find((field) => field.name === first)?.jsonName ?? first
      delete json[first]
      json[key] = second ? { ...(json[key] as object), [second]: 'a1/b2' } : 'a1'
    }
    return json
  }

  it(`reads every REST request of v2 back into its method and message (seed ${SEED})`, () => {
    const draw = drawFrom(SEED)
    const ofV2 = rpc.methods.filter(({ version }) => version === 'v2')
    for (const method of ofV2) {
      for (let round = 0; round < 5; round += 1) {
        const request = requestFrom(method, named(method, randomJson(method.input, draw)))
        const { pathname, searchParams } = new URL(request.url, 'http://v2')
        const body = request.body === undefined ? undefined : (JSON.parse(request.body) as unknown)
        const same = sameCall(ofV2, { method: request.method, path: decodeURIComponent(pathname), query: [...searchParams], body })
        expect(same?.method.path).toBe(method.path)
        expect(requestFrom(method, same?.message)).toEqual(request)
      }
    }
  })

  it('finds no method for a route of another API', () => {
    expect(sameCall(rpc.methods, { method: 'GET', path: '/iam/v3/groups', query: [] })).toBeUndefined()
  })
})

describe('status of', () => {
  const v1 = { registry: rpc.registry, version: 'v1' } as const

  function detailsOf({ details }: WireStatus) {
    return details.map(({ type, value }) => {
      const message = rpc.registry.getMessage(type)!
      return [type, toJson(message, fromBinary(message, value))]
    })
  }

  const detail = (type: string, members: object) => ({ '@type': `type.googleapis.com/${type}`, ...members })

  it('returns code, message and details of an error', () => {
    const status = statusOfError(invalidArgument({ field: 'name', description: 'is required' }), v1)
    expect([status.code, status.message]).toEqual([3, 'Invalid argument: name: is required'])
    expect(detailsOf(status)).toEqual([['google.rpc.BadRequest', { fieldViolations: [{ field: 'name', description: 'is required' }] }]])
  })

  it('writes the details that services send', () => {
    const details = [
      detail('google.rpc.ErrorInfo', { reason: 'R', domain: 'd', metadata: { a: 'b' } }),
      detail('google.rpc.ResourceInfo', { resourceType: 't', resourceName: 'n', colour: 'red' }),
      detail('google.rpc.RetryInfo', { retryDelay: '1.500s' }),
    ]
    expect(detailsOf(statusOfError(new ApiError('NOT_FOUND', 'm', { details }), v1))).toEqual([
      ['google.rpc.ErrorInfo', { reason: 'R', domain: 'd', metadata: { a: 'b' } }],
      ['google.rpc.ResourceInfo', { resourceType: 't', resourceName: 'n' }],
      ['google.rpc.RetryInfo', { retryDelay: '1.500s' }],
    ])
  })

  it.each<[RpcVersion, string]>([
    ['v1', 'chainguard.platform.iam.TermsNotAcceptedDetail'],
    ['v2', 'chainguard.platform.iam.v2.TermsNotAcceptedDetail'],
    ['v2beta1', 'chainguard.platform.iam.v2beta1.TermsNotAcceptedDetail'],
  ])('gives a detail the name that clients of %s know', (version, name) => {
    const members = { missing: [{ id: 'i', label: 'l', url: 'u' }] }
    const details = [detail('chainguard.platform.iam.v2.TermsNotAcceptedDetail', members)]
    const status = statusOfError(new ApiError('FAILED_PRECONDITION', 'm', { details }), { ...v1, version })
    expect(detailsOf(status)).toEqual([[name, members]])
  })

  it('leaves out details whose type or form is not known, and those beyond the room of a head', () => {
    const info = (reason: string) => detail('google.rpc.ErrorInfo', { reason })
    const details = [detail('x.Y', { a: 1 }), info(1 as never), info('a'.repeat(4000)), info('kept')]
    const status = statusOfError(new ApiError('INTERNAL', 'm', { details }), v1)
    expect(detailsOf(status)).toEqual([['google.rpc.ErrorInfo', { reason: 'kept' }]])
  })

  const answer = (status: number, body: object): Answer => ({ status, headers: {}, ...body }) as Answer

  it.each<[string, Answer, number, string]>([
    ['a number', answer(404, { body: { code: 5, message: 'gone' } }), 5, 'gone'],
    ['a name', answer(404, { text: '{"code":"NOT_FOUND","message":"gone"}' }), 5, 'gone'],
    ['UNKNOWN itself', answer(500, { body: { code: 2, message: 'm' } }), 2, 'm'],
    ['no message', answer(400, { body: { code: 9 } }), 9, ''],
  ])('reads a status with %s', async (_, given, code, message) => {
    expect(await statusOfAnswer(given, v1)).toEqual({ code, message, details: [] })
  })

  it.each<[number, string, number]>([
    [502, '<html>bad gateway</html>', 14],
    [404, 'not found', 12],
    [429, '', 8],
    [401, '{"error":"no"}', 16],
    [500, '{"code":0}', 13],
    [418, '{"code":99}', 9],
  ])('reads the meaning of HTTP %i from a body that is no status', async (http, text, code) => {
    async function* stream() {
      yield Buffer.from(text)
    }
    const message = `the service answered HTTP ${http} without an error body`
    expect(await statusOfAnswer(answer(http, { stream: stream() }), v1)).toEqual({ code, message, details: [] })
  })

  it('reads no more than 64 KiB of an error', async () => {
    let read = 0
    async function* stream() {
      for (; read < 1000; read += 1) yield Buffer.alloc(1024, ' ')
    }
    await statusOfAnswer(answer(502, { stream: stream() }), v1)
    expect(read).toBe(64)
  })
})
