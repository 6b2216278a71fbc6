import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { parse as parseJsonc } from 'jsonc-parser'
import { afterAll, describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { configSchema, loadConfig, readSettings } from '../../../src/app/config/config.ts'
import {
  parseJsonc as parseJsoncOfConfigFile,
  parseYaml as parseYamlOfConfigFile,
  readConfigFile,
} from '../../../src/app/config/config-file.ts'
import { fromFile } from '../../../src/app/config/kinds.ts'
import { envOf, flagOf, SETTING_KEYS } from '../../../src/app/config/settings.ts'
import { CONFIGURATIONS } from '../../docs/pages.ts'
import { sampled } from '../../sample.ts'
import { processorMs } from '../../stage/clocks.ts'
import { runCommand } from '../cli/support.ts'

describe('crosswalk config', () => {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-config-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  const path = join(folder, 'crosswalk.yaml')
  const TOKENS = 'admin: { token: HIDDEN-HIDDEN-HIDDEN, tokens: { alice: HIDDEN-HIDDEN-HIDDE2 } }'
  writeFileSync(path, `limits:\n  deadlineMs: 5\n  streams: 6\n${TOKENS}\nv1: { sunset: 2027-03-01 }\n`)

  it('tells each value and where it comes from, and no secret', async () => {
    const env = { CROSSWALK_CONFIG: path, CROSSWALK_STREAMS: '7', CROSSWALK_STORE_URL: 'redis://u:HIDDEN@h' }
    const { code, out } = await runCommand(['config', '--port', '9', '--given'], env)
    expect(code).toBe(0)
    expect(out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['listen.port', '9', '--port'],
      ['admin.token', '(secret)', `${path}:4:17`],
      ['admin.tokens', '(secret)', `${path}:4:47`],
      ['v1.sunset', '2027-03-01T00:00:00.000Z', `${path}:5:15`],
      ['store.url', '(secret)', 'CROSSWALK_STORE_URL'],
      ['limits.streams', '7', 'CROSSWALK_STREAMS'],
      ['limits.deadlineMs', '5', `${path}:2:15`],
    ])
  })

  it('lists every setting, with defaults', async () => {
    const { out } = await runCommand(['config'])
    const rows = out.split('\n').map((line) => line.split(/ {2,}/))
    expect(rows.map(([key]) => key)).toEqual(SETTING_KEYS)
    expect(rows.every(([, , from]) => from === 'default')).toBe(true)
  })

  it('writes a file in JSON that holds every value but the secrets, and names these', async () => {
    const ignore = JSON.stringify([{ operations: '*', at: '/items/*/name', reason: 'r', until: '2027-03-01' }])
    const { out, err } = await runCommand(['config', '--json', '--config', path, '--diff-ignore', ignore, '--mode', 'diff-v1'])
    expect(err).toBe('Left out, because they are secret: admin.token, admin.tokens.')
    const again = join(folder, 'again.json')
    writeFileSync(again, out)
    const first = loadConfig({ flags: { config: path, 'diff-ignore': ignore, mode: 'diff-v1' }, env: {} })
    expect(
      loadConfig({
        flags: { config: again, 'admin-token': 'HIDDEN-HIDDEN-HIDDEN', 'admin-tokens': 'alice=HIDDEN-HIDDEN-HIDDE2' },
        env: {},
      }),
    ).toEqual(first)
  })

  it('writes a file of the defaults, which changes nothing', async () => {
    const defaults = join(folder, 'defaults.json')
    writeFileSync(defaults, (await runCommand(['config', '--json'])).out)
    expect(loadConfig({ flags: { config: defaults }, env: {} })).toEqual(loadConfig({ flags: {}, env: {} }))
  })

  it('tells origins in JSON', async () => {
    const { out } = await runCommand(['config', '--origins', '--given', '--config', path])
    expect(JSON.parse(out)).toContainEqual({
      key: 'limits.streams',
      value: 6,
      from: 'file',
      name: `${path}:3:12`,
      env: 'CROSSWALK_STREAMS',
      flag: '--streams',
      live: expect.anything(),
    })
  })

  it('tells every problem instead', async () => {
    const { code, out, err } = await runCommand(['config', '--port', 'x', '--streams', '0'])
    expect({ code, out, lines: err.split('\n').length }).toEqual({ code: 2, out: '', lines: 2 })
  })

  it('prints the JSON Schema', async () => {
    expect(JSON.parse((await runCommand(['config', '--schema'])).out)).toEqual(configSchema())
  })
})

describe('the JSON Schema of a configuration file', () => {
  const ajv = new Ajv({ strict: true, allowUnionTypes: true })
  addFormats.default(ajv)
  const isValid = ajv.compile(configSchema())

  /** An object with a value at the place of a key. */
  const withValue = (key: string, value: unknown) => key.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)

  it.each(CONFIGURATIONS)('accepts what $page shows: $text', ({ text }) => {
    isValid(text.startsWith('{') ? parseJsonc(text) : parseYaml(text))
    expect(isValid.errors).toBeNull()
  })

  it('is what the documents ship', () => {
    expect(JSON.parse(readFileSync('docs/configuration.schema.json', 'utf8'))).toEqual(configSchema())
  })

  it.each(SETTING_KEYS)('knows %s and refuses a wrong value', (key) => {
    expect(isValid(withValue(key, { never: ['this'] }))).toBe(false)
  })

  it.each([
    { $schema: './configuration.schema.json' },
    { modes: 'diff-v1' },
    { workers: 'auto' },
    { workers: 2 },
    { forwarded: { trusted: ['10.0.0.0/8'] } },
    { forwarded: { trusted: '10.0.0.0/8' } },
    { admin: { tokens: { alice: '@alice.token' } } },
    { v1: { sunset: '2027-03-01', deprecation: '2027-03-01T12:00:00Z' } },
  ])('accepts %j', (file) => expect(isValid(file)).toBe(true))

  it.each([
    { upstrem: {} },
    { limits: { deadlinMs: 5 } },
    { limits: { deadlineMs: 0 } },
    { listen: { port: 65_536 } },
    { modes: { rules: [] } },
    { modes: { default: 'v2', rules: [{ mode: 'v2', canary: { percent: 101, mode: 'v1' } }] } },
    { v1: { sunset: 'soon' } },
    { admin: { tokens: { 'admin.token': 'x' } } },
  ])('refuses %j', (file) => expect(isValid(file)).toBe(false))
})

describe('a configuration file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-formats-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  /** Reads a configuration file of this name and text. */
  const read = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return readSettings({ flags: { config: path }, env: {} })
  }

  const JSONC = `{
  // the service
  "$schema": "./configuration.schema.json",
  "upstream": { "v2": "https://api.example.com", },
  /* the rest */
  "limits": { "deadlineMs": 5 },
}`

  const YAML = `# the service
$schema: ./configuration.schema.json
upstream: { v2: https://api.example.com }
limits: &all
  deadlineMs: 5
keep:
modes: diff-v1
`

  it.each([
    ['a.json', JSONC],
    ['a.jsonc', JSONC],
    ['a.yaml', YAML],
    ['a.yml', YAML],
    ['a.conf', JSONC],
    ['a.conf', `// first\n${JSONC}`],
    ['a.conf', YAML],
    ['a.yaml', '{ "upstream": { "v2": "https://api.example.com" }, "limits": { "deadlineMs": 5 } }'],
    ['a.json', `\uFEFF${JSONC}`],
  ])('is read by its name or its first character: %s %j', (name, text) => {
    expect(read(name, text)).toMatchObject({
      config: { 'upstream.v2': 'https://api.example.com', 'limits.deadlineMs': 5 },
      problems: [],
    })
  })

  it('may have comments alone in YAML', () => {
    expect(read('empty.yaml', '# upstream:\n').problems).toEqual([])
    expect(read('empty.yaml', '').problems).toEqual([])
  })

  it('keeps dates and versions of YAML as texts', () => {
    const { config, problems } = read('dates.yaml', 'v1: { sunset: 2027-03-01 }\nupstream:\n  v2Build: "1.10"\n')
    expect({ problems, sunset: config['v1.sunset'], build: config['upstream.v2Build'] }).toEqual({
      problems: [],
      sunset: Date.parse('2027-03-01') / 1000,
      build: '1.10',
    })
  })

  it('keeps names of YAML that look like numbers as they are written', () => {
    const names = { '0012345678901234': 'Terraform', '1234567e89012345': 'CI', '9912345678901233': 'Console', '~': 'Nobody' }
    const rows = Object.entries(names).map(([hash, name]) => `    ${hash}: ${name}\n`)
    const { config, problems } = read('names.yaml', `clients:\n  names:\n${rows.join('')}`)
    expect({ problems, names: config['clients.names'] }).toEqual({ problems: [], names })
    expect(read('numbers.yaml', 'clients:\n  names:\n    0012345678901234: ""\n').problems).toEqual([
      `clients.names.0012345678901234 in the file ${join(folder, 'numbers.yaml')}:3:23 must be a name of 1 to 60 characters.`,
    ])
  })

  it.each([
    ['a.json', '{\n  "limits": {\n    "deadlineMs": 5\n    "streams": 1 }\n}', 'line 4, column 5: a comma is missing.'],
    ['a.json', '{ "a": HIDDEN }', 'line 1, column 8: a text needs quotes around it.'],
    ['a.json', '{ "a": 1 /* HIDDEN', 'line 1, column 10: a comment has no end.'],
    ['a.json', '{ "log": {}, "log": {} }', 'line 1, column 14: an earlier member has this name.'],
    ['a.json', '', 'line 1, column 1: a value is missing.'],
    ['a.yaml', 'a: HIDDEN\n\tb: HIDDEN', 'line 2, column 1: this is not YAML (tab as indent).'],
    ['a.yaml', 'a: 1\na: 2', 'line 2, column 1: this is not YAML (duplicate key).'],
    ['a.yaml', 'a: *HIDDEN', 'an alias (*) names no anchor (&) before it, or too many of them.'],
  ])('names the line and the column of a wrong text: %s %j', (name, text, wrong) => {
    const { problems } = read(name, text)
    expect(problems).toEqual([`The configuration file ${join(folder, name)} cannot be read: ${wrong}`])
    expect(problems.join()).not.toContain('HIDDEN')
  })

  it('bounds what aliases of YAML make', () => {
    const levels = Array.from({ length: 9 }, (_, at) => `l${at + 1}: &l${at + 1} [${Array(9).fill(`*l${at}`).join(', ')}]`)
    expect(read('bomb.yaml', ['l0: &l0 [x]', ...levels].join('\n')).problems).toEqual([expect.stringContaining('cannot be read: an alias')])
  })

  it('tells every problem with its place', () => {
    const text = 'limits:\n  deadlineMs: 1s\n  stream: 1\nmodes:\n  default: v3\n  rules: [{ mode: v4 }]\n'
    const path = join(folder, 'several.yaml')
    expect(read('several.yaml', text).problems).toEqual([
      `The configuration file ${path} has an unknown key "limits.stream"; did you mean "limits.streams"?`,
      expect.stringMatching(`^modes.default in the file ${path}:5:12 must be one of v1, v2`),
      expect.stringMatching(`^modes.rules.0.mode in the file ${path}:6:19 must be one of v1, v2`),
      `limits.deadlineMs is "1s" in the file ${path}:2:15, but it must be a whole number from 1 to 3600000.`,
    ])
    expect(loadConfig({ flags: { config: path }, env: {} })).toEqual({ problem: expect.stringContaining('limits.stream') })
  })

  it('does not show the place of a secret with its text', () => {
    const path = join(folder, 'token.yaml')
    expect(read('token.yaml', 'admin:\n  token: HIDDEN\n').problems).toEqual([
      expect.stringMatching(`^admin.token in the file ${path}:2:10 must be a token of`),
    ])
  })
})

describe('a wrong address is never printed whole', () => {
  const SECRET = 's3cret'

  /** Addresses with a password or a token, also such as no parser takes. */
  const PLANTED = [
    `https://user:${SECRET}@api.example.com`,
    `http://h.example?token=${SECRET}`,
    `http://h.example/#${SECRET}`,
    `user:${SECRET}@api.example.com`,
    `https:/user:p@${SECRET}@api.example.com:x`,
    `ftp://${SECRET}@api.example.com`,
  ]

  const V2 = { CROSSWALK_UPSTREAM_V2: 'http://127.0.0.1:9' }

  it.each(SETTING_KEYS.map((key, nth) => [key, sampled(PLANTED, 6, nth)] as const))('in %s', async (key, some) => {
    for (const planted of some) {
      const inEnv = await runCommand(['serve', '--check'], { ...V2, [envOf(key)]: planted })
      const asFlag = await runCommand(['serve', '--check', `--${flagOf(key)}=${planted}`], V2)
      for (const { out, err } of [inEnv, asFlag]) expect([planted, out + err]).toEqual([planted, expect.not.stringContaining(SECRET)])
    }
  })

  it.each([
    [['cutover', '--admin']],
    [['clients', '--admin']],
    [['report', '--admin']],
    [['rollouts', '--admin']],
    [['sandbox', 'token', '--url']],
    [['openapi', '--server']],
    [['replay', 'none.log', '--against']],
    [['serve', '--upstream-v3']],
    [['serve']],
    [['config']],
  ])('by crosswalk %j', async (argv) => {
    for (const planted of PLANTED) {
      const { out, err } = await runCommand([...argv, planted], V2)
      expect([planted, out + err]).toEqual([planted, expect.not.stringContaining(SECRET)])
    }
  })
})

describe('small file', () => {
  it('reads no more of a device than a file may have', () => {
    expect(readConfigFile('/dev/zero').problems).toEqual([
      'The configuration file /dev/zero cannot be read: it has more than 1048576 bytes.',
    ])
  })

  it.each([
    ['JSON', parseJsoncOfConfigFile, `{"a":${'['.repeat(100_000)}`],
    ['YAML', parseYamlOfConfigFile, `a: ${'['.repeat(100_000)}`],
  ])('says of %s that its brackets are too deep', (_, parse, text) => {
    expect(parse(text)).toEqual({ wrong: expect.stringMatching(/^line 1, column \d+: brackets are nested deeper than 100 levels$/) })
  })

  it('finds a repeated name among very many soon', () => {
    const names = Array.from({ length: 60_000 }, (_, at) => `"m${at}":1`)
    const ms = processorMs(() => {
      expect(parseJsoncOfConfigFile(`{${names.join()}}`)).toHaveProperty('value.m59999', 1)
      expect(parseJsoncOfConfigFile(`{${names.join()},"m5":1}`)).toEqual({
        wrong: expect.stringMatching(/an earlier member has this name$/),
      })
    })
    expect(ms).toBeLessThan(5000)
  })

  it('reads no secret from a device', () => {
    const read = fromFile('a token', () => true).safeParse('@/dev/zero')
    expect(read.error?.issues.map(({ message }) => message)).toEqual(['names a file that cannot be read: it has more than 1048576 bytes'])
  })
})
