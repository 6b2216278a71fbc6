import { describe, expect, it } from 'vitest'
import type { Sandbox } from '../../src/sandbox/start.ts'
import { hasCurl, paste, runCommand } from '../app/cli/support.ts'
import { operationOf } from '../migrate/given.ts'
import { bearer, type Entry, startQuietSandbox, startStage } from '../stage/stage.ts'

describe('explain', () => {
  const explain = (line: string, body?: unknown, ...flags: string[]) =>
    runCommand(['explain', line, ...(body === undefined ? [] : ['--data', '-']), ...flags], {}, JSON.stringify(body))

  describe('explain', () => {
    it('prints one call as one curl line', async () => {
      const { code, out } = await explain('GET /registry/v1/tags?uidp.childrenOf=a%2Fb&limit=3&colour=red')
      expect(code).toBe(0)
      expect(out.split('\n').slice(0, 2)).toEqual(['# registry.tags.list (direct)', '# dropped parameters: colour'])
      expect(out).toContain(
        `\ncurl -sS -H "Authorization: Bearer $TOKEN" "http://127.0.0.1:8090/registry/v2/tags?uidp.children_of=a%2Fb&include_referrers=true&include_dates=true&include_epochs=true&page_size=3"`,
      )
    })

    it('takes the method and the path as two arguments', async () => {
      const quoted = await explain('GET /iam/v1/groups?limit=10')
      expect(await runCommand(['explain', 'GET', '/iam/v1/groups?limit=10'])).toEqual(quoted)
      expect((await runCommand(['explain', 'GET', '/a', '/b'])).err).toContain('takes 2 arguments')
    })

    it('shows the field mask, the dropped members and the target of the calls', async () => {
      const body = { id: 'x', name: "it's", bogus: 1, oidc: { client_id: 'c', colour: 'red' } }
      const { out } = await explain('PUT /iam/v1/identityProviders/aa/bb', body, '--upstream-v2', 'https://api.example.com')
      expect(out).toContain('# mask: name,description,default_role,oidc.issuer,oidc.client_id,')
      expect(out).toContain('# dropped body members: id (output only), bogus (v1 does not know it), oidc.colour (v1 does not know it)')
      expect(out).toContain(
        `curl -sS -X PATCH -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"name":"it'\\''s",`,
      )
      expect(out).toContain('"https://api.example.com/iam/v2/identityProviders/aa/bb?updateMask=')
    })

    it('feeds a value of one response into the next call', async () => {
      const { out } = await explain('GET /iam/v1/identities/lookup?issuer=i&subject=s')
      expect(out).toMatch(/^answer_1=\$\(curl -fsS .*lookupIdentity\?issuer=i&subject=s"\) &&$/m)
      expect(out).toMatch(/^uid_1=\$\(.*\) &&$/m)
      expect(out).toMatch(/\/iam\/v2\/identities\/\$\{uid_1\}"$/)
    })

    it('writes conditional calls as comments', async () => {
      const { out } = await explain('POST /registry/v1/repos/aa', { name: 'r' })
      expect(out).toContain('# when call 1 answers ALREADY_EXISTS:\n#   curl -sS ')
      expect(out.split('\n').filter((line) => line.startsWith('curl '))).toHaveLength(1)
    })

    it('says what is left of a window where the rows so far decide', async () => {
      const { out } = await explain('GET /iam/v1/groups?limit=10')
      expect(out).toContain('/iam/v2/groups?page_size=<what is left of 10>&page_token=<nextPageToken of call 1>"')
      expect((await explain('GET /registry/v1/repos?limit=10')).out).toContain('/registry/v2/repos?page_size=<what is left of 10>&')
      expect((await explain('GET /iam/v1/groups')).out).toContain('/iam/v2/groups?page_size=200&page_token=<nextPageToken of call 1>"')
    })

    it('expects no body of a delete', async () => {
      const { out } = await explain('DELETE /iam/v1/groups/aa/bb')
      expect(out).not.toContain('v1 answers 500')
      expect(out).toMatch(/\ncurl -sS -X DELETE .*\/iam\/v2\/groups\/aa\/bb"$/)
    })

    it('states what a response must contain', async () => {
      const { out } = await explain('PUT /registry/v1/tags/aa/bb/cc', { name: 'new' })
      expect(out).toMatch(/^# when name of call 1 is not "new", v1 answers 400 \(code 3\): Invalid argument: name: cannot be changed/m)
      expect(out).toContain(`[ "$name_1" = 'new' ] && curl -sS -X POST`)
    })

    it('states what cannot be known in advance', async () => {
      const { out } = await explain('GET /registry/v1/eoltags')
      expect(out).toContain(`# cannot be known: ${operationOf('registry.eol_tags.list').because}`)
      expect(out).toContain('# cannot be known: main_package_name: ')
    })

    it('names requests that only v1 can answer or that v1 refuses', async () => {
      expect((await explain('GET /registry/v1/vuln_reports')).out).toContain(
        '# only a v1 service can answer it: vulnerability reports have no v2 endpoint',
      )
      const { out } = await explain('GET /iam/v1/groups?page=1&offset=2')
      expect(out).toContain('# v1 answers 400 (code 3): Invalid argument: ')
      expect(out).not.toContain('curl')
    })

    it('reads a form body as v1 did', async () => {
      const counts = 'POST /registry/v1/vuln_reports/counts'
      expect((await explain(counts)).out).toContain('# registry.vuln_reports.counts (v1-only)')
      expect((await runCommand(['explain', counts, '--type', 'application/json'])).err).toContain('but not with POST')
      const asGet = await runCommand(['explain', 'POST /iam/v1/groups', '--override', 'GET', '--data', '-'], {}, 'name=a')
      expect(asGet.out).toContain('# iam.groups.list (direct)')
      expect(asGet.out).toContain('name=a')
    })

    it('says who supplies values that v2 lacks and who answers emulated operations', async () => {
      const { out } = await explain('GET /libraries/v1/artifacts?ecosystems=GO')
      expect(out).toContain('# libraries.artifacts.list?ecosystems (v1-only)\n# only a v1 service can answer it: v2 has no JAVASCRIPT, ')
      expect((await explain('GET /registry/v1/eoltags')).out).toContain(
        '# with upstream.v1 set, v1 answers it unless a rule of modes names it',
      )
      expect((await explain('GET /registry/v1/tags')).out).not.toContain('upstream.v1')
    })

    it.each([
      ['GET /iam/v2/groups', 'is not a v1 path'],
      ['GET /iam/v1/nothing', '404 Not Found'],
      ['GET /iam/v1/grups', 'or upstream.v1 does; did you mean "/iam/v1/groups"?'],
      ['TRACE /iam/v1/groups', '501 Method Not Allowed'],
      ['GET /iam/v1/%zz', 'not a well-formed path'],
    ])('fails for %s', async (line, reason) => {
      expect(await explain(line)).toMatchObject({ code: 1, out: '', err: expect.stringContaining(reason) })
    })

    it('prints data with --json', async () => {
      const { out } = await explain('PUT /registry/v1/tags/aa/bb/cc', { deprecated: true, colour: 'red' }, '--json')
      expect(JSON.parse(out)).toMatchObject({
        operation: 'registry.tags.update',
        kind: 'emulated',
        calls: [
          { number: 1, method: 'GET', url: 'http://127.0.0.1:8090/registry/v2/tags/aa/bb/cc' },
          {
            number: 2,
            method: 'POST',
            url: 'http://127.0.0.1:8090/registry/v2/tags/aa/bb',
            body: { name: '<name of call 1>', digest: '<digest of call 1>', deprecated: true, bundles: [] },
          },
        ],
        droppedMembers: [{ member: 'colour', because: 'v1 does not know it' }],
      })
    })
  })

  /** Twin sandboxes: the same data, uids and clock. */
  const twin = () => startQuietSandbox({ now: Date.parse('2026-11-20T00:00:00.000Z') })

  const WRITES = ['POST', 'PATCH', 'DELETE']
  const COLLECTIONS = [
    '/iam/v2/groups',
    '/iam/v2/identities',
    '/iam/v2/roles',
    '/iam/v2/roleBindings',
    '/registry/v2/repos',
    '/registry/v2/tags',
  ]

  async function journal({ url }: Sandbox): Promise<readonly Entry[]> {
    const entries = (await (await fetch(`${url}/-/journal`)).json()) as readonly Entry[]
    return entries.map(({ method, path, query, body }) => ({ method, path, query, body }))
  }

  /** All v2 state that a v1 request could change. */
  async function state({ url, tokens, organization }: Sandbox): Promise<readonly unknown[]> {
    const get = async (path: string) => (await fetch(url + path, { headers: bearer(tokens.admin) })).json()
    const lists = COLLECTIONS.map((path) => get(`${path}?uidp.descendants_of=${organization}&page_size=200`))
    return Promise.all(lists)
  }

  const sorted = (entries: readonly Entry[]) => entries.map((entry) => JSON.stringify(entry)).sort()

  describe.runIf(hasCurl())('what explain prints, pasted into sh', () => {
    async function first(sandbox: Sandbox, path: string): Promise<string> {
      const answer = await fetch(sandbox.url + path, { headers: bearer(sandbox.tokens.admin) })
      const [rows] = Object.values((await answer.json()) as Record<string, { uid: string }[]>)
      return rows?.[0]?.uid ?? ''
    }

    const repo = (sandbox: Sandbox) => first(sandbox, `/registry/v2/repos?uidp.descendants_of=${sandbox.organization}&name=nginx`)
    const tag = async (sandbox: Sandbox) => first(sandbox, `/registry/v2/tags?uidp.children_of=${await repo(sandbox)}&name=latest`)
    const role = (sandbox: Sandbox) => first(sandbox, '/iam/v2/roles?name=viewer')

    it.each<[string, (sandbox: Sandbox) => Promise<string> | string, unknown?, ('owner' | 'admin')?]>([
      ['a list', () => 'GET /iam/v1/groups?order_by=name%20desc'],
      ['a list by id', async (sandbox) => `GET /registry/v1/repos?id=${await repo(sandbox)}`],
      ['a list with readmes', ({ organization }) => `GET /registry/v1/repos?uidp.children_of=${organization}`],
      ['a list with hydrated members', ({ organization }) => `GET /iam/v1/rolebindings?uidp.descendants_of=${organization}`],
      [
        'a create',
        ({ organization }) => `POST /iam/v1/groups/${organization}`,
        { name: 'new folder', description: 'it\'s "quoted" & more!\n$HOME' },
      ],
      [
        'a create with a readme',
        ({ organization }) => `POST /registry/v1/repos/${organization}`,
        { name: 'fresh', readme: '# Hi\n"you"' },
        'admin',
      ],
      ['a replacement', async (sandbox) => `PUT /registry/v1/repos/${await repo(sandbox)}`, { name: 'nginx' }, 'admin'],
      [
        'a replacement by a caller who may not write readmes',
        async (sandbox) => `PUT /registry/v1/repos/${await repo(sandbox)}`,
        { name: 'nginx' },
      ],
      ['a refused readme', async (sandbox) => `PUT /registry/v1/repos/${await repo(sandbox)}`, { name: 'nginx', readme: 'mine' }],
      ['a tag update that keeps its digest', async (sandbox) => `PUT /registry/v1/tags/${await tag(sandbox)}`, { deprecated: true }],
      [
        'a tag update that echoes its name',
        async (sandbox) => `PUT /registry/v1/tags/${await tag(sandbox)}`,
        { name: 'latest', bundles: ['a'] },
      ],
      ['a tag update that would rename', async (sandbox) => `PUT /registry/v1/tags/${await tag(sandbox)}`, { name: 'other' }],
      [
        'a tag create without a digest',
        async (sandbox) => `POST /registry/v1/tags/${await repo(sandbox)}`,
        { name: 'latest', deprecated: true },
      ],
      ['a role', ({ organization }) => `POST /iam/v1/roles/${organization}`, { name: 'reader', capabilities: ['groups.list'] }],
      ['a binding', ({ organization }) => `POST /iam/v1/rolebindings/${organization}`, { identity: 'none', role: 'none' }],
      ['a delete', async (sandbox) => `DELETE /registry/v1/tags/${await tag(sandbox)}`],
      ['a delete of what is not there', ({ organization }) => `DELETE /iam/v1/groups/${organization}/ffffffffffffffff`],
      ['a blocked delete', ({ organization }) => `DELETE /iam/v1/groups/${organization}`],
      ['a lookup', () => 'GET /iam/v1/identities/lookup?issuer=https://accounts.example.com&subject=alice@example.com'],
      ['an end-of-life list', ({ organization }) => `GET /registry/v1/eoltags?uidp.descendants_of=${organization}&page_size=2`],
      ['a built-in role', async (sandbox) => `GET /iam/v1/roles?id=${await role(sandbox)}`],
    ])('makes the same change as the v1 call: %s', async (_, lineOf, body, user = 'owner') => {
      const [served, pasted] = [await twin(), await twin()]
      const proxy = await startStage({ v1: null, v2: served.url })
      const line = await lineOf(served)
      for (const { url } of [served, pasted]) await fetch(`${url}/-/journal`, { method: 'DELETE' })

      const [method = '', path = ''] = line.split(' ')
      const init = { method, headers: bearer(served.tokens[user]), ...(body !== undefined && { body: JSON.stringify(body) }) }
      await (await fetch(proxy.url + path, init)).arrayBuffer()
      const { out } = await explain(line, body, '--upstream-v2', pasted.url)
      await paste(out, { TOKEN: pasted.tokens[user] })

      const [wanted, made] = [await journal(served), await journal(pasted)]
      expect(wanted).not.toEqual([])
      expect(made.filter((entry) => WRITES.includes(entry.method))).toEqual(wanted.filter((entry) => WRITES.includes(entry.method)))
      expect(sorted(made)).toEqual(sorted(wanted))
      expect(await state(pasted)).toEqual(await state(served))
    })
  })
})

describe('explain of a gRPC call', () => {
  const explain = (method: string, data: string, ...flags: string[]) =>
    runCommand(['explain', `grpc chainguard.platform.${method}`, '--data', data, ...flags])

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
    ['iam.v2.GroupsService/Grow', {}, 'is not a method of v1: the proxy passes its calls on to v2 unchanged'],
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
    const argv = ['explain', `grpc chainguard.platform.${method}`]
    const { out } = await runCommand(argv, env)
    expect(out).toContain(sentence)
    const { out: json } = await runCommand([...argv, '--json'], env)
    expect(JSON.parse(json)).toEqual({ grpc: { method: `chainguard.platform.${method}`, sentence: out.slice('# '.length) } })
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
