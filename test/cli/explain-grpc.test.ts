import { describe, expect, it } from 'vitest'
import { runCommand } from './support.ts'

const explain = (method: string, data: string, ...flags: string[]) =>
  runCommand(['explain', `grpc chainguard.platform.${method}`, '--data', data, ...flags])

describe('explain of a gRPC call', () => {
  it('shows the REST request, the calls to v2, and the same over gRPC', async () => {
    const { code, out } = await explain('iam.Groups/List', '{"uidp":{"childrenOf":"a/b"}}')
    expect(code).toBe(0)
    expect(out.split('\n')[0]).toBe('# /chainguard.platform.iam.Groups/List becomes GET /iam/v1/groups?uidp.children_of=a%2Fb')
    expect(out).toContain(
      'curl -sS -H "Authorization: Bearer $TOKEN" "http://127.0.0.1:8090/iam/v2/groups?uidp.children_of=a%2Fb&page_size=200"',
    )
    expect(out).toContain(
      `#   grpcurl -plaintext -H "Authorization: Bearer $TOKEN" -d '{"uidp":{"childrenOf":"a/b"},"pageSize":200}' 127.0.0.1:8090 chainguard.platform.iam.v2.GroupsService/ListGroups`,
    )
  })

  it.each(['1a0161', 'GgFh', '{"name":"a"}'])('reads the message from %s', async (data) => {
    expect((await explain('iam.Groups/List', data)).out).toContain(' becomes GET /iam/v1/groups?name=a\n')
  })

  it('reads a message from standard input', async () => {
    const { out } = await runCommand(['explain', 'grpc chainguard.platform.iam.Groups/List', '--data', '-'], {}, '{"name":"a"}\n')
    expect(out).toContain('/iam/v1/groups?name=a\n')
  })

  it('shows what is dropped and the method of v2 as data', async () => {
    const { out } = await explain('iam.Groups/Create', '{"parent":"a","group":{"id":"x","name":"n"}}', '--json')
    expect(JSON.parse(out)).toMatchObject({
      operation: 'iam.groups.create',
      droppedMembers: [{ member: 'id', because: 'output only' }],
      grpc: {
        request: { method: 'POST', url: '/iam/v1/groups/a', body: { id: 'x', name: 'n' } },
        calls: [
          { number: 1, method: '/chainguard.platform.iam.v2.GroupsService/CreateGroup', message: { parent: 'a', group: { name: 'n' } } },
        ],
      },
    })
  })

  it('uses TLS for an address with https', async () => {
    const { out } = await explain('iam.Roles/List', '{}', '--upstream-v2', 'https://api.example.com')
    expect(out).toMatch(/grpcurl -H .* api\.example\.com:443 chainguard\.platform\.iam\.v2\.RolesService\/ListRoles$/m)
  })

  it.each([
    ['iam.GroupInvites/CreateWithGroup', {}, 'has no REST request: upstream.v1 answers it over gRPC'],
    ['iam.Groups/Grow', {}, 'is not a method of its service: the answer is UNIMPLEMENTED (code 12)'],
    ['iam.v2.GroupsService/ListGroups', {}, 'passes it on to v2 unchanged (upstream.v2Grpc is relay)'],
    ['iam.v2beta1.GroupsService/ListGroups', { CROSSWALK_GRPC_V2BETA1: 'v2' }, 'as /chainguard.platform.iam.v2.GroupsService/ListGroups'],
    [
      'iam.v2beta1.GroupsService/ListGroups',
      { CROSSWALK_UPSTREAM_V2_GRPC: 'rest' },
      'sends it to v2 as GET /iam/v2/groups (upstream.v2Grpc is rest)',
    ],
    ['apk.Packages/List', {}, 'is not a method of v1: the proxy passes its calls on to v2 unchanged'],
    ['apk.Packages/List', { CROSSWALK_UPSTREAM_V2_GRPC: 'rest' }, 'has no REST request: the answer is UNIMPLEMENTED (code 12)'],
  ])('says what becomes of %s', async (method, env, sentence) => {
    const { out } = await runCommand(['explain', `grpc chainguard.platform.${method}`], env)
    expect(out).toContain(sentence)
  })

  it('says what REST cannot', async () => {
    const { out } = await explain('advisory.SecurityAdvisory/ListResolvedVulnsReports', '{"imageRefs":[{}]}')
    expect(out).toContain('is answered over gRPC alone: REST cannot say image_refs')
  })

  it.each([
    [
      'iam.Groups/List',
      '{"name":1}',
      1,
      'The call is answered INVALID_ARGUMENT: the request is not JSON of chainguard.platform.iam.GroupFilter.',
    ],
    ['iam.Groups/List', '0c', 1, 'The call is answered INTERNAL: grpc: error unmarshalling request.'],
    ['iam.Groups/List', '/no/such/file!', 2, 'The --data of a gRPC call is JSON, hex, base64, - or the name of a file.'],
  ])('fails for %s with %s', async (method, data, code, err) => {
    expect(await explain(method, data)).toMatchObject({ code, out: '', err: expect.stringContaining(err) })
  })
})
