import { fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf'
import { expect, it } from 'vitest'
import type { ApiError } from '../../../src/errors.ts'
import { requestOf } from '../../../src/grpc/messages/request-of.ts'
import { rpc, v1Method } from './messages.ts'

/** Returns the REST request of a message, its body parsed. */
function asked(name: string, json: JsonValue, codec: 'proto' | 'json' = 'proto') {
  const method = v1Method(name)
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
  const { input, ...method } = v1Method('iam.Groups/List')
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
  expect(codeOf(() => requestOf(v1Method('iam.Groups/List'), Buffer.from(bytes), 'proto'))).toEqual(wanted)
})

it('says of such bytes over Connect what its servers say', () => {
  const refusal = codeOf(() => requestOf(v1Method('iam.Groups/List'), Buffer.from([0xff]), 'proto', { protocol: 'connect' }))
  expect(refusal).toEqual(['INVALID_ARGUMENT', 'the request is not a chainguard.platform.iam.GroupFilter'])
})

it('takes no text for an empty message', () => {
  expect(requestOf(v1Method('iam.Groups/List'), Buffer.alloc(0), 'json').url).toBe('/iam/v1/groups')
})

it.each(['null', '{', '[]', '{"name":1}', '{"name":"\ud800"}', '"\xff"'])('refuses %j as JSON of a message', (text) => {
  const refusal = codeOf(() => requestOf(v1Method('iam.Groups/List'), Buffer.from(text, 'latin1'), 'json'))
  expect(refusal).toEqual(['INVALID_ARGUMENT', expect.stringMatching(/not JSON of chainguard.platform.iam.GroupFilter|not JSON: /)])
})

it('refuses a time that JSON cannot write', () => {
  const seconds = Buffer.from([0x1a, 0x07, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f])
  const [code] = codeOf(() => requestOf(v1Method('registry.Registry/ListTags'), seconds, 'proto'))
  expect(code).toBe('INVALID_ARGUMENT')
})

it.each([
  ['a path', 'iam.Groups/Delete', { id: 'a/'.repeat(600) }, /"field":"id","description":"is longer than a URL may be \(1000 bytes\)"/],
  ['a path of one segment', 'libraries.Artifacts/ListVersions', { id: '%'.repeat(1001) }, /is longer than a URL/],
  ['the path of a request with a body', 'iam.Groups/Update', { id: 'a'.repeat(1001), name: 'n' }, /is longer than a URL/],
  ['a query of megabytes', 'iam.Groups/List', { name: '%'.repeat(2 ** 21) }, /the message is longer than any query/],
])('refuses %s that is longer than any URL, in both codecs', (_, name, json, message) => {
  const method = v1Method(name)
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
  const { input, ...method } = v1Method('iam.Groups/Create')
  const bytes = (text: string) => toBinary(input, fromJson(input, { group: { name: text } }))
  expect(requestOf({ input, ...method }, bytes('a'.repeat(2 ** 21)), 'proto', { pathBytes: 1000 }).body?.length).toBeGreaterThan(2 ** 21)
  const [code] = codeOf(() => requestOf({ input, ...method }, bytes('\u0001'.repeat(2 ** 21)), 'proto', { pathBytes: 1000 }))
  expect(code).toBe('RESOURCE_EXHAUSTED')
})

it('says that a method without a rule has no request', () => {
  const [code] = codeOf(() => requestOf(v1Method('iam.GroupInvites/CreateWithGroup'), Buffer.alloc(0), 'proto'))
  expect(code).toBe('UNIMPLEMENTED')
})

it('keeps the reads of methods and messages apart', () => {
  const bytes = Buffer.from('0a0161', 'hex')
  const urls = ['iam.Groups/List', 'iam.Roles/List', 'iam.Groups/List'].map((name) => requestOf(v1Method(name), bytes, 'proto').url)
  expect(urls).toEqual(['/iam/v1/groups?id=a', '/iam/v1/roles?id=a', '/iam/v1/groups?id=a'])
})
