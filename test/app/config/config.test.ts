import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { adminSettings, configWith, loadConfig, readGivenSettings, variableIn } from '../../../src/app/config/config.ts'
import { envOf, flagOf, SETTING_KEYS, SETTINGS } from '../../../src/app/config/settings.ts'
import { suggestion } from '../../../src/tables/check.ts'

const directory = mkdtempSync(join(tmpdir(), 'crosswalk-config-'))
afterAll(() => rmSync(directory, { recursive: true }))

let files = 0
const file = (content: unknown) => {
  files += 1
  const path = join(directory, `${files}.json`)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const load = (flags: Record<string, string>, env: Record<string, string> = {}, content?: unknown) =>
  loadConfig({ flags: { ...flags, ...(content !== undefined && { config: file(content) }) }, env })

describe('precedence', () => {
  const content = { listen: { port: 1 }, v1: { dialect: 'published' } }

  it.each([
    [{ port: '3' }, { CROSSWALK_PORT: '2' }, 3],
    [{}, { CROSSWALK_PORT: '2' }, 2],
    [{}, {}, 1],
    [{}, { CROSSWALK_PORT: '' }, 1],
  ])('resolves flags %j and environment %j over the file to port %i', (flags, env, port) => {
    expect(load(flags as Record<string, string>, env as Record<string, string>, content)).toMatchObject({
      config: { 'listen.port': port, 'v1.dialect': 'published', 'admin.port': 8081 },
    })
  })

  it('reads the file that the environment names', () => {
    expect(load({}, { CROSSWALK_CONFIG: file({ 'listen.port': 7 }) })).toMatchObject({ config: { 'listen.port': 7 } })
  })

  it('refuses a flag that names no file, as an unset variable of a shell does', () => {
    const problem = 'config is "" in the flag --config, but it must be the path of a file.'
    expect(load({ config: '' }, { CROSSWALK_CONFIG: file({ 'listen.port': 7 }) })).toEqual({ problem })
    expect(load({}, { CROSSWALK_CONFIG: '' })).toEqual({ config: configWith({}) })
  })

  it('falls back to the defaults', () => {
    expect(load({})).toEqual({ config: configWith({}) })
  })
})

describe('the configuration', () => {
  it('reads text and JSON alike', () => {
    const content = { registry: { readmes: false }, limits: { deadlineMs: 5 } }
    const values = { 'registry.readmes': false, 'limits.deadlineMs': 5 }
    expect(load({}, {}, content)).toMatchObject({ config: values })
    expect(load({ readmes: 'false', 'deadline-ms': '5' })).toMatchObject({ config: values })
  })

  it('refuses a setting that the file gives twice', () => {
    const content = { limits: { deadlineMs: 5 }, 'limits.deadlineMs': 6 }
    expect(load({}, {}, content)).toHaveProperty('problem', expect.stringMatching(/has limits\.deadlineMs twice/))
    expect(readGivenSettings(content, {})).toHaveProperty('problem', expect.stringMatching(/have limits\.deadlineMs twice/))
  })

  it('keeps a text with a comma whole in a list', () => {
    const oidc = { issuer: 'https://login.example.com/', audience: 'api', write: ['CN=ops,OU=groups', 'b'] }
    const loaded = load({}, {}, { admin: { oidc } })
    expect('config' in loaded && adminSettings(loaded.config).oidc?.write).toEqual(['CN=ops,OU=groups', 'b'])
  })

  it.each([
    ['a trailing slash', 'https://api.example.com/base/'],
    ['an empty query', 'https://api.example.com/base/?'],
    ['a space', ' https://api.example.com/base\n'],
  ])('removes %s of an address', (_, address) => {
    expect(load({ 'upstream-v2': address })).toMatchObject({ config: { 'upstream.v2': 'https://api.example.com/base' } })
  })

  it.each([
    [{ port: 'x' }, {}, 'listen.port is "x" in the flag --port, but it must be a whole number from 0 to 65535.'],
    [{ port: '65536' }, {}, 'listen.port is "65536" in the flag --port, but it must be a whole number from 0 to 65535.'],
    [
      {},
      { CROSSWALK_DIALECT: 'v1' },
      'v1.dialect is "v1" in the environment variable CROSSWALK_DIALECT, but it must be one of specification, published.',
    ],
    [{ readmes: 'yes' }, {}, 'registry.readmes is "yes" in the flag --readmes, but it must be true or false.'],
    [{ host: '' }, {}, 'listen.host is "" in the flag --host, but it must be a host name or an IP address.'],
  ])('names the source of a wrong value: %j %j', (flags, env, problem) => {
    expect(load(flags as Record<string, string>, env as Record<string, string>)).toEqual({ problem })
  })

  it.each([
    ['trusted-proxies', '10.0.0.0/8, ::1', { 'forwarded.trusted': '10.0.0.0/8,::1' }],
    ['grpc-cors-origins', 'https://a.test, http://b.test:8080', { 'grpc.corsOrigins': 'https://a.test,http://b.test:8080' }],
    ['grpc-cors-origins', '*', { 'grpc.corsOrigins': '*' }],
    ['v1-deprecation', '2027-03-01', { 'v1.deprecation': 1_803_859_200 }],
    ['v1-sunset', '2027-03-01T01:00:00+01:00', { 'v1.sunset': 1_803_859_200 }],
    ['v1-successor', 'https://docs.example.com/a b>', { 'v1.successor': 'https://docs.example.com/a%20b%3E' }],
  ])('accepts --%s %j', (flag, value, config) => expect(load({ [flag]: value })).toMatchObject({ config }))

  it('accepts an array of trusted proxies in the file', () => {
    expect(load({}, {}, { forwarded: { trusted: ['10.0.0.0/8', '::1'] } })).toMatchObject({
      config: { 'forwarded.trusted': '10.0.0.0/8,::1' },
    })
  })

  it.each(['all', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0.0/', '::/129', '10.0.0.1,', 'fe80::1%eth0', 'localhost'])(
    'no proxy to trust: %j',
    (text) => {
      const problem = `forwarded.trusted is ${JSON.stringify(text)} in the flag --trusted-proxies, but it must be addresses or networks with commas between them, such as 10.0.0.0/8,::1.`
      expect(load({ 'trusted-proxies': text })).toEqual({ problem })
    },
  )

  it.each(['a.test', 'https://a.test/', 'https://a.test:443', 'https://u@a.test', 'ftp://a.test', 'null', ''])(
    'rejects %j as an origin',
    (text) => {
      const problem = `grpc.corsOrigins is ${JSON.stringify(text.replace('u@', '…@'))} in the flag --grpc-cors-origins, but it must be origins with commas between them, such as https://console.example.com, or *.`
      expect(load({ 'grpc-cors-origins': text })).toEqual({ problem })
    },
  )

  it.each(['tomorrow', '2027-02-30', '1803859200', '2027-03-01T00:00:00'])('rejects %j as a moment', (text) => {
    const problem = `v1.sunset is ${JSON.stringify(text)} in the flag --v1-sunset, but it must be a date such as 2027-03-01 or 2027-03-01T12:00:00Z.`
    expect(load({ 'v1-sunset': text })).toEqual({ problem })
  })

  it.each(['docs', 'ftp://x', 'https://user:pass@x'])('rejects %j as a link', (text) => {
    expect(load({ 'v1-successor': text })).toHaveProperty('problem', expect.stringMatching(/^v1\.successor is .* an address such as/))
  })

  it('reads a secret from a file of its own', () => {
    const path = join(directory, 'token')
    writeFileSync(path, 'a-token-from-a-file\n')
    expect(load({ 'admin-token': `@${path}` })).toMatchObject({ config: { 'admin.token': 'a-token-from-a-file' } })
    expect(load({}, { CROSSWALK_ADMIN_TOKEN: 'a-token-from-outside' }, { admin: { readToken: 'a-token-inside-it' } })).toMatchObject({
      config: { 'admin.token': 'a-token-from-outside', 'admin.readToken': 'a-token-inside-it' },
    })
  })

  it('reads tokens with the names of their holders', () => {
    const path = join(directory, 'bob.token')
    writeFileSync(path, 'the-token-of-bob-1\n')
    const tokens = [
      { name: 'alice', token: 'the-token-of-alice==' },
      { name: 'bob@example.com', token: 'the-token-of-bob-1' },
    ]
    expect(load({ 'admin-tokens': `alice=the-token-of-alice==, bob@example.com=@${path}` })).toMatchObject({
      config: { 'admin.tokens': tokens },
    })
    const inFile = { alice: 'the-token-of-alice==', 'bob@example.com': `@${path}` }
    expect(load({}, {}, { admin: { tokens: inFile } })).toMatchObject({ config: { 'admin.tokens': tokens } })
  })

  it.each([
    'HIDDEN-HIDDEN-HIDDEN==',
    'HIDDEN-HIDDEN-HIDDEN',
    'alice=HIDDEN',
    'alice=HIDDEN-HIDDEN-HIDDEN,bob',
    'alice=HIDDEN-HIDDEN-HIDDEN,alice=HIDDEN-HIDDEN-HIDDEM',
    'HIDDEN-HIDDEN-HIDDEN=alice',
    'admin.token=HIDDEN-HIDDEN-HIDDEN',
    'alice=@HIDDEN',
    '',
    { 'HIDDEN-HIDDEN-HIDDEN': 'alice' },
    { alice: 7 },
    ['alice=HIDDEN-HIDDEN-HIDDEN'],
  ])('shows no token that is wrong or in a wrong place: %j', (value) => {
    const loaded = [load({}, {}, { admin: { tokens: value } }), ...(typeof value === 'string' ? [load({ 'admin-tokens': value })] : [])]
    for (const one of loaded) {
      expect(one).toHaveProperty('problem', expect.stringMatching(/^admin\.tokens in .* must be pairs NAME=TOKEN/))
      expect(JSON.stringify(one)).not.toContain('HIDDEN')
    }
  })

  it.each(['HIDDEN', 'HIDDEN with spaces in it', 'HIDDEN-HIDDEN-HIDDEN-é', `HIDDEN${'x'.repeat(5000)}`, '@HIDDEN-HIDDEN-HIDDEN', '@'])(
    'that are secret are not shown when they are wrong: %j',
    (text) => {
      const path = join(directory, 'wrong-token')
      writeFileSync(path, text)
      const loaded = [
        load({ 'admin-token': text }),
        load({}, { CROSSWALK_ADMIN_TOKEN: `@${path}` }),
        load({}, {}, { admin: { token: text } }),
      ]
      for (const one of loaded) {
        expect(one).toHaveProperty(
          'problem',
          expect.stringMatching(/^admin\.token in .* (must be a token of|names a file that cannot be read)/),
        )
        expect(JSON.stringify(one)).not.toContain('HIDDEN')
      }
    },
  )

  it('rejects a number as a secret and does not print it', () => {
    expect(load({}, {}, { admin: { token: 1234567890123456 } })).toHaveProperty('problem', expect.not.stringContaining('1234'))
  })

  it('rejects a port in a name', () => {
    expect(load({ 'admin-names': 'crosswalk.internal, proxy-1' })).toMatchObject({
      config: { 'admin.names': 'crosswalk.internal,proxy-1' },
    })
    for (const text of ['crosswalk.internal:8081', 'http://x', 'a,,b', '*', '.x']) {
      expect(load({ 'admin-names': text })).toHaveProperty('problem', expect.stringContaining('admin.names is'))
    }
  })

  it('asks for what an identity provider needs to give a right, and takes its lists', () => {
    const issuer = { 'admin-oidc-issuer': 'https://login.example.com/' }
    expect(load(issuer)).toHaveProperty('problem', expect.stringContaining('without admin.oidc.audience'))
    expect(load({ ...issuer, 'admin-oidc-audience': 'api' })).toHaveProperty(
      'problem',
      expect.stringContaining('no token would grant a right'),
    )
    expect(load({ 'admin-oidc-read': 'everybody' })).toHaveProperty(
      'problem',
      expect.stringContaining('admin.oidc.read is set without admin.oidc.issuer'),
    )
    for (const wrong of ['http://login.example.com', 'https://u:p@login.example.com', 'login', 'https://login.example.com/?a=b']) {
      expect(load({ 'admin-oidc-issuer': wrong })).toHaveProperty('problem', expect.stringContaining('admin.oidc.issuer is'))
    }
    const oidc = { issuer: 'https://login.example.com/', audience: 'api', write: ['platform', 'on-call'], claim: 'realm_access.roles' }
    expect(load({}, {}, { admin: { oidc } })).toMatchObject({
      config: {
        'admin.oidc.issuer': 'https://login.example.com/',
        'admin.oidc.write': ['platform', 'on-call'],
        'admin.oidc.name': 'email',
      },
    })
  })

  it('rejects values that contradict each other', () => {
    const token = 'the-same-for-everything'
    expect(load({ 'admin-token': token, 'admin-read-token': token })).toEqual({
      problem: 'admin.readToken is the same as admin.token, but whoever has it would change modes; give two tokens.',
    })
    expect(load({ 'admin-tokens': `alice=${token}`, 'admin-read-token': token })).toHaveProperty(
      'problem',
      expect.stringContaining('the same as one of admin.tokens'),
    )
    for (const flags of [{ 'admin-tokens': `alice=${token},bob=${token}` }, { 'admin-tokens': `alice=${token}`, 'admin-token': token }]) {
      expect(load(flags)).toHaveProperty('problem', expect.stringContaining('so nobody could tell who used it'))
    }
    expect(load({ 'request-bytes': '1000000', 'bodies-bytes': '999999' })).toEqual({
      problem:
        'limits.bodiesBytes (999999) is less than limits.requestBytes (1000000), so the largest bodies would always be refused; raise the first.',
    })
    expect(load({ 'message-bytes': '1000000', 'messages-bytes': '999999' })).toEqual({
      problem:
        'limits.messagesBytes (999999) is less than limits.messageBytes (1000000), so the longest answers over gRPC would always be refused; raise the first.',
    })
    expect(load({ 'upstream-v1-grpc': 'rest' })).toEqual({
      problem: 'upstream.v1Grpc is rest without upstream.v1, so no call would reach a v1 service; give upstream.v1 or leave out the first.',
    })
    expect(load({ 'upstream-v1-grpc': 'rest', 'upstream-v1': 'http://127.0.0.1:9000' })).toHaveProperty('config')
    expect(load({ 'v1-deprecation': '2027-03-01', 'v1-sunset': '2027-02-01' })).toEqual({
      problem:
        'v1.sunset (2027-02-01T00:00:00.000Z) is before v1.deprecation (2027-03-01T00:00:00.000Z), but nothing ends before it is deprecated (RFC 9745 §4).',
    })
  })

  it.each([
    [{ 'upstream-v2': 'http://127.0.0.1:8080' }, 'upstream.v2 (http://127.0.0.1:8080)', 'listen'],
    [{ 'upstream-v1': 'http://localhost:8080/x' }, 'upstream.v1 (http://localhost:8080/x)', 'listen'],
    [{ 'upstream-v2': 'http://[::1]:9000', host: '::', port: '9000' }, 'upstream.v2 (http://[::1]:9000)', 'listen'],
    [{ 'upstream-v2': 'https://a.test', host: 'a.test', port: '443' }, 'upstream.v2 (https://a.test)', 'listen'],
    [{ 'upstream-v2': 'http://127.0.0.1:8081' }, 'upstream.v2 (http://127.0.0.1:8081)', 'admin'],
  ])('rejects a service at the address of the proxy: %j', (flags, upstream, own) => {
    const problem = `${upstream} is the proxy's own address (${own}.host, ${own}.port), so `
    expect(load(flags)).toHaveProperty('problem', expect.stringContaining(problem))
  })

  it.each<Record<string, string>>([
    { 'upstream-v2': 'http://127.0.0.1:9000' },
    { 'upstream-v2': 'http://[::1]:8080' },
    { 'upstream-v2': 'http://a.test:8080', host: '0.0.0.0' },
    { 'upstream-v2': 'http://127.0.0.1', port: '0' },
  ])('accepts a service near the proxy: %j', (flags) => expect(load(flags)).toHaveProperty('config'))

  it.each(['api.example.com', 'ftp://x', 'https://user:pass@x', 'https://x?y', 'https://x#y', ''])('rejects %j as an address', (url) => {
    expect(load({ 'upstream-v2': url })).toHaveProperty('problem', expect.stringMatching(/^upstream\.v2 is .* an address such as/))
  })
})

describe('the file', () => {
  it('is named in the problem with one of its values', () => {
    const path = file({ limits: { deadlineMs: '1s' } })
    expect(load({ config: path })).toEqual({
      problem: `limits.deadlineMs is "1s" in the file ${path}:1:25, but it must be a whole number from 1 to 3600000.`,
    })
  })

  it.each([
    [{ limits: { deadlinMs: 1 } }, 'has an unknown key "limits.deadlinMs"; did you mean "limits.deadlineMs"?'],
    [{ limit: { deadlineMs: 1 } }, 'has an unknown key "limit"; '],
    [{ limits: 5 }, 'has an unknown key "limits"; '],
    [{ zebra: {} }, 'has an unknown key "zebra"; crosswalk config lists the keys.'],
    [[], 'must hold one object.'],
    ['{', 'cannot be read: '],
  ])('is refused when it is %j', (content, problem) => {
    expect(load({}, {}, content)).toHaveProperty('problem', expect.stringContaining(problem))
  })

  it('is not quoted if it is not JSON', () => {
    for (const content of ['{"a":HIDDEN-HIDDEN}', 'HIDDEN-HIDDEN', '{"a":"HIDDEN" "x"}', '{"a":"x"}HIDDEN']) {
      expect(load({}, {}, content)).toHaveProperty('problem', expect.stringContaining('cannot be read: '))
      expect(JSON.stringify(load({}, {}, content))).not.toContain('HIDDEN')
    }
  })

  it('must exist', () => {
    expect(load({ config: join(directory, 'none.json') })).toHaveProperty(
      'problem',
      expect.stringContaining('cannot be read: there is no such file'),
    )
  })
})

describe('the table of settings', () => {
  it('gives every setting a unique name', () => {
    expect(new Set(SETTING_KEYS.map(envOf)).size).toBe(SETTING_KEYS.length)
    expect(SETTING_KEYS.map(flagOf)).not.toContain('config')
  })

  it('reads every setting from its variable', () => {
    expect(SETTING_KEYS.map(envOf).filter((name) => variableIn({ [name]: 'x' }, name) !== 'x')).toEqual([])
    expect(load({}, { CROSSWALK_STORE_NAME: 'eu' })).toMatchObject({ config: { 'store.name': 'eu' } })
  })

  it('has defaults that it accepts', () => {
    for (const key of SETTING_KEYS) {
      const { kind, default: value } = SETTINGS[key]
      if (value !== undefined) expect(kind.schema.safeParse(value)).toMatchObject({ success: true, data: value })
    }
  })
})

it('suggests the nearest key for a typing error and nothing for other words', () => {
  const suggested = ['upstrem', 'LISTEN', 'zebra'].map((word) => suggestion(word, ['upstream', 'listen'], 'look it up.'))
  expect(suggested).toEqual(['did you mean "upstream"?', 'did you mean "listen"?', 'look it up.'])
})

describe('the rules of cutover.operations', () => {
  const accept = { reason: 'r', until: '2027-01-31' }
  const said = (...operations: readonly unknown[]) => load({}, {}, { cutover: { operations } })

  it('are read from the file, the environment and a flag', () => {
    const rules = [
      { operations: 'iam.terms.*', target: 0.01 },
      { operations: ['iam.*'], accept },
    ]
    const read = { config: { 'cutover.operations': rules } }
    expect(said(...rules)).toMatchObject(read)
    expect(load({ 'cutover-operations': JSON.stringify(rules) })).toMatchObject(read)
    expect(load({}, { CROSSWALK_CUTOVER_OPERATIONS: JSON.stringify(rules) })).toMatchObject(read)
  })

  it.each([
    [{ target: 0.1 }, /^cutover\.operations\.0\.operations in the file \S+ must be a text or a list of texts\.$/],
    [{ operations: 'a', target: 1 }, /^cutover\.operations\.0\.target in the file \S+ must be a share of wrong answers of more than 0/],
    [{ operations: 'a', target: '0.1' }, /^cutover\.operations\.0\.target in the file \S+ must be a share of wrong answers/],
    [{ operations: 'a' }, /^cutover\.operations\.0 in the file \S+ must give a target, or accept with a reason and a date\.$/],
    [
      { operations: 'a', accept: { ...accept, reason: ' ' } },
      /^cutover\.operations\.0\.accept\.reason in the file \S+ must say why the operations may move without proof\.$/,
    ],
    [
      { operations: 'a', accept: { reason: 'r' } },
      /^cutover\.operations\.0\.accept\.until in the file \S+ must be the last day on which it holds, such as 2027-01-31\.$/,
    ],
    [{ operations: 'a', accept: { ...accept, until: '2027-02-30' } }, /^cutover\.operations\.0\.accept\.until in the file \S+ must be the/],
    [{ operations: 'a', accept: true }, /^cutover\.operations\.0\.accept in the file \S+ must be an object \{"reason", "until"\}\.$/],
  ])('are refused with one sentence: %j', (rule, problem) => {
    expect(said(rule)).toEqual({ problem: expect.stringMatching(problem) })
  })
})

describe('the rules of diff.ignore', () => {
  const rule = { operations: 'registry.*', at: '/items/*/name', reason: 'r', until: '2027-03-01' }
  const said = (change: object) => load({}, {}, { diff: { ignore: [{ ...rule, ...change }] } })

  it('are read from the file, the environment and a flag', () => {
    const read = { config: { 'diff.ignore': [{ ...rule, until: Date.parse('2027-03-01') }] } }
    expect(said({})).toMatchObject(read)
    expect(load({ 'diff-ignore': JSON.stringify([rule]) })).toMatchObject(read)
    expect(load({}, { CROSSWALK_DIFF_IGNORE: JSON.stringify([rule]) })).toMatchObject(read)
    expect(said({ until: '2027-03-01T12:00:00+01:00' })).toMatchObject({
      config: { 'diff.ignore': [{ until: Date.parse('2027-03-01T11:00:00Z') }] },
    })
  })

  it.each([
    [{ until: 'soon' }, /^diff\.ignore\.0\.until in the file \S+ must be a date such as 2027-03-01 or 2027-03-01T12:00:00Z\.$/],
    [{ until: undefined }, /^diff\.ignore\.0\.until in the file \S+ must be a date/],
    [{ reason: ' ' }, /^diff\.ignore\.0\.reason in the file \S+ must say why clients can accept the difference\.$/],
    [{ reason: undefined }, /^diff\.ignore\.0\.reason in the file \S+ must say why/],
    [{ at: 'items/name' }, /^diff\.ignore\.0\.at in the file \S+ must be a JSON Pointer in table names/],
    [{ kinds: ['colour'] }, /^diff\.ignore\.0\.kinds\.0 in the file \S+ must be one of status, missing, extra, type, value, order\.$/],
    [{ operations: [] }, /^diff\.ignore\.0\.operations in the file \S+ must be a text or a list of texts\.$/],
    [
      { when: [{ param: 'limit', is: 'number' }] },
      /^diff\.ignore\.0\.when\.0\.is in the file \S+ must be a list of texts, or one of count, positive, uid\.$/,
    ],
    [{ when: { param: 'limit' } }, /^diff\.ignore\.0\.when in the file \S+ must be a list\.$/],
  ])('are refused with one sentence: %j', (change, problem) => {
    expect(said(change)).toEqual({ problem: expect.stringMatching(problem) })
  })

  it('are refused if they are no list', () => {
    expect(load({ 'diff-ignore': 'none' })).toEqual({
      problem: expect.stringMatching(/^diff\.ignore is "none" in the flag --diff-ignore, but it must be a list/),
    })
  })
})
