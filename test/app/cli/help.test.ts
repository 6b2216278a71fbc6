import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMMANDS, run } from '../../../src/app/cli/run.ts'
import { unknownVariables } from '../../../src/app/config/config.ts'
import { envOf, flagOf, SECTIONS, SETTING_KEYS, sectionOf } from '../../../src/app/config/settings.ts'
import { runCommand, untilEscaped } from './support.ts'

describe('a failure of the system is told in words:', () => {
  const PUT = 'PUT /registry/v1/repos/aa/bb'
  const SERVE = ['serve', '--upstream-v2', 'http://127.0.0.1:1', '--port', '0', '--admin-port', '0']

  it.each([
    [['replay', 'src'], 2, 'src cannot be opened: it is a folder; name a file.'],
    [['explain', PUT, '--data', 'src'], 2, 'src cannot be opened: it is a folder; name a file.'],
    [['case', 'x', '--records', 'src'], 2, 'src cannot be opened: it is a folder; name a file.'],
    [['openapi', '--out', '/nowhere/x'], 2, '/nowhere/x cannot be opened: there is no such file or folder.'],
    [['openapi', '--out', '/'], 2, '/ cannot be opened: it is a folder; name a file.'],
    [['report', '/nowhere'], 3, '/nowhere cannot be opened: there is no such file or folder.'],
    [['sandbox', '--data', '/nowhere.json'], 2, '/nowhere.json cannot be opened: there is no such file or folder.'],
    [[...SERVE, '--config', '/nowhere'], 2, 'The configuration file /nowhere cannot be read: there is no such file or folder (/nowhere).'],
    [[...SERVE, '--config', 'src'], 2, 'The configuration file src cannot be read: it is a folder; name a file.'],
    [[...SERVE, '--records-file', 'src'], 1, 'records.file cannot be written: it is a folder (src); name a file'],
    [[...SERVE, '--tls-key', 'src', '--tls-cert', 'src'], 1, 'tls.key cannot be read: it is a folder (src); name a file'],
    [[...SERVE, '--store-url', 'file:src'], 1, 'store.url: the file cannot be read: it is a folder (src); name a file'],
    [
      [...SERVE, '--store-url', 'file:/nowhere/x'],
      1,
      'store.url: the file /nowhere/x cannot be written: there is no such file or folder (/nowhere/x.new)',
    ],
    [[...SERVE, '--tables', '/nowhere'], 2, '/nowhere cannot be loaded as tables: there is no such file'],
    [[...SERVE, '--host', '192.0.2.1'], 1, '192.0.2.1 is not an address of this machine; give one of its addresses, or 0.0.0.0 for all.'],
    [
      ['cutover', '--admin', 'nonsense'],
      2,
      '--admin is "nonsense", but it must be an address such as http://127.0.0.1:8081, without credentials, query and fragment.',
    ],
    [
      ['sandbox', 'token', '--url', 'nonsense'],
      2,
      '--url is "nonsense", but it must be an address such as http://127.0.0.1:8090, without credentials, query and fragment.',
    ],
  ])('%j', async (argv, code, err) => {
    expect(await runCommand(argv)).toEqual({ code, out: '', err })
  })

  it('a body of JSON may stand on the command line', async () => {
    const { code, out } = await runCommand(['explain', PUT, '--type', 'application/json', '--data', '{"name": "x"}'])
    expect([code, out]).toEqual([0, expect.stringContaining('"name"')])
  })
})

describe('the help', () => {
  const helpOf = async (...words: readonly string[]) => (await runCommand(['help', ...words])).out

  it.each(['', ...Object.keys(COMMANDS)])('of %j has lines of at most 100 characters', async (words) => {
    const lines = (await helpOf(...words.split(' ').filter(Boolean))).split('\n')
    expect(lines.filter((line) => line.length > 100)).toEqual([])
  })

  it.each(Object.keys(COMMANDS))('of %s fits on a screen by --help and -h, which only name the sections of the settings', async (words) => {
    const text = await helpOf(...words.split(' '))
    expect(text).toMatch(/^crosswalk /)
    const short = (await runCommand([...words.split(' '), '--help'])).out
    expect((await runCommand([...words.split(' '), '-h'])).out).toBe(short)
    const titles = Object.entries(SECTIONS).flatMap(([section, about]) => (text.includes(`\n${section} - ${about}:\n`) ? section : []))
    if (titles.length < 4) return expect(short).toBe(text)
    expect(short.split('\n').length).toBeLessThan(70)
    for (const section of titles) expect(short).toMatch(new RegExp(`^ {2}${section} {2,}\\S`, 'm'))
    expect(short).toContain(`crosswalk help ${words} those of all.`)
  })

  it('of serve has every setting with its variable, in the sections of the settings', async () => {
    const text = await helpOf('serve')
    const titles = Object.entries(SECTIONS).map(([section, about]) => `${section} - ${about}:`)
    expect(text.split('\n').filter((line) => titles.includes(line))).toEqual(titles)
    for (const key of SETTING_KEYS) {
      expect(text).toMatch(new RegExp(`^  --${flagOf(key)} `, 'm'))
      expect(text).toMatch(new RegExp(`\\b${envOf(key)}$`, 'm'))
    }
  })

  // A command of the same name wins.
  it.each(Object.entries(SECTIONS).filter(([section]) => !(section in COMMANDS)))(
    'of the section %s has its settings alone',
    async (section, about) => {
      const text = await helpOf(section)
      expect(text.split('\n')[0]).toBe(`${section} - ${about}`)
      expect(text.split('\n').filter((line) => line.length > 100)).toEqual([])
      const flags = SETTING_KEYS.filter((key) => sectionOf(key) === section).map((key) => `--${flagOf(key)}`)
      expect(text.match(/^ {2}--[a-z0-9-]+/gm)?.map((flag) => flag.trim())).toEqual(flags)
    },
  )

  it('knows what a word was meant to be', async () => {
    expect(await runCommand(['help', 'limit'])).toMatchObject({ code: 2, err: expect.stringContaining('did you mean "limits"?') })
  })

  it('shows words to choose from, and units', async () => {
    const text = await helpOf('serve')
    expect(text).toContain('  --mode v1|v2|diff-v1|diff-v2\n')
    expect(text).toContain('  --log-level trace|debug|info|warn|error|fatal|silent\n')
    expect(text).toContain('  --call-timeout-ms MS ')
    expect(text).toContain('  --answer-bytes BYTES ')
    expect(text).toContain('  --workers N|auto ')
  })

  it.each(Object.entries(COMMANDS))('of %s says what each flag takes', async (_, load) => {
    const { flags } = await load()
    const silent = Object.entries(flags).filter(([, { switch: isSwitch, value, choices }]) => !isSwitch && !value && !choices)
    expect(silent.map(([name]) => name)).toEqual([])
  })
})

describe('misuse', () => {
  let folder: string
  let nonsense: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'crosswalk-misuse-'))
    nonsense = join(folder, 'nonsense.json')
    writeFileSync(nonsense, '{"no":"such thing"}\n')
  })

  afterAll(() => rmSync(folder, { recursive: true }))

  /** What makes sense to a command besides its settings, so that nothing else is wrong. */
  const SENSE: Readonly<Record<string, readonly string[]>> = {
    explain: ['GET /iam/v1/groups'],
    case: ['an-id'],
    draft: ['--v1', 'examples/resource-manager/openapi-v1.json', '--v2', 'examples/resource-manager/openapi-v3.json'],
    completion: ['bash'],
    report: ['test/app/cli/help.test.ts'],
    rehearse: ['--dry-run'],
    replay: ['test/app/cli/help.test.ts'],
  }

  const V2 = ['--upstream-v2', 'http://127.0.0.1:1']
  const ANY_PORT = ['--sandbox-port', '0', '--port', '0']

  /** What is wrong with a command by itself. `FOLDER` and `NONSENSE` stand for a folder and a file of something else. */
  const WRONG: readonly (readonly string[])[] = [
    ...['clients', 'rollouts', 'circuits', 'modes', 'status', 'case an-id', 'cutover'].map((command) => [
      ...command.split(' '),
      '--admin',
      'nonsense',
    ]),
    ['rollouts', 'iam'],
    ['rollouts', 'iam', 'nonsense'],
    ['clients', '--top', 'x'],
    ['clients', '--operations', 'nonsense'],
    ['case', 'an-id', '--records', '/nowhere'],
    ['case', 'an-id', '--records', 'FOLDER'],
    ['cutover', '--target', '5'],
    ['operations', 'nonsense'],
    ['openapi', '--operations', 'nonsense'],
    ['openapi', '--out', '/nowhere/openapi.json'],
    ['explain', 'nonsense'],
    ['explain', '--guide', 'iam.nonsense'],
    ['explain', 'POST /iam/v1/groups', '--data', '/nowhere'],
    ['explain', 'POST /iam/v1/groups', '--data', 'FOLDER'],
    ['draft', '--v1', 'x.json'],
    ['draft', '--v1', '/nowhere', '--v2', '/nowhere'],
    ['draft', '--v1', 'FOLDER', '--v2', 'FOLDER'],
    ['draft', '--v1', 'NONSENSE', '--v2', 'NONSENSE'],
    ['check', '/nowhere'],
    ['check', 'NONSENSE'],
    ['check', '--v1', 'x.json'],
    ['check', '--v1', '/nowhere', '--v2', '/nowhere'],
    ['replay', '/nowhere'],
    ['replay', 'FOLDER'],
    ['replay', 'NONSENSE'],
    ['replay', 'NONSENSE', '--rows', 'x'],
    ['replay', 'NONSENSE', '--format', 'x'],
    ['report', 'NONSENSE', '--target', '5'],
    ['completion', 'nonsense'],
    ['config', '--port', 'x'],
    ['serve', '--tables', '/nowhere', ...V2],
    ['serve', '--workers', '2', '--tables', 'FOLDER', ...V2],
    ['demo', '--data', '/nowhere.json', ...ANY_PORT],
    ['sandbox', '--port', 'x'],
    ['sandbox', '--data', '/nowhere.json', '--port', '0'],
    ['sandbox', '--data', 'NONSENSE', '--port', '0'],
    ['sandbox', 'token', '--url', 'x'],
    ['sandbox', 'token', '--subject', 'a', '--lifetime', 'x'],
  ]

  const EVERY = Object.keys(COMMANDS)

  /** A wrong use ends with code 2, one sentence, nothing on standard output and no code of the system. */
  async function expectMisuse(argv: readonly string[], env: Record<string, string> = {}) {
    const { code, out, err } = await runCommand(argv, env)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^[^\n]+$/)
    expect(err).not.toMatch(/\bE[A-Z]{4,}\b|^\w*Error|errno/)
    return err
  }

  it.each(WRONG.map((argv) => [argv.join(' '), argv] as const))('ends crosswalk %s with code 2', async (_, argv) => {
    await expectMisuse(argv.map((word) => ({ FOLDER: folder, NONSENSE: nonsense })[word] ?? word))
  })

  it.each(EVERY)('ends %s with code 2 if a flag is unknown', async (command) => {
    await expectMisuse([...command.split(' '), ...(SENSE[command] ?? []), '--nonsense', 'x'])
  })

  it.each(EVERY)('ends %s with code 2 if a variable is not a setting', async (command) => {
    const err = await expectMisuse([...command.split(' '), ...(SENSE[command] ?? [])], { CROSSWALK_NONSENSE: 'x' })
    expect(err).toMatch(/^The environment variable CROSSWALK_NONSENSE is not a setting; /)
  })

  /** These know no settings of the proxy. */
  const WITHOUT_SETTINGS = ['sandbox', 'sandbox token', 'draft']

  it.each(EVERY.filter((command) => !WITHOUT_SETTINGS.includes(command)))('ends %s with code 2 if a setting is wrong', async (command) => {
    const argv = [...command.split(' '), ...(SENSE[command] ?? [])]
    await expectMisuse(argv, { CROSSWALK_ADMIN_PORT: 'x' })
    await expectMisuse(argv, { CROSSWALK_CONFIG: '/nowhere' })
  })

  const LONG = [
    ['draft', '--v1', 'examples/resource-manager/openapi-v1.json', '--v2', 'examples/resource-manager/openapi-v3.json', '--out', 'OUT'],
    ['replay', 'NONSENSE', '--format', 'records'],
    ['replay', 'NONSENSE', '--format', 'records', '--guide', 'x'],
    ['replay', 'NONSENSE', '--format', 'access-log', '--against', 'http://127.0.0.1:1', ...V2],
    ['report', 'NONSENSE'],
    ['case', 'an-id', '--records', 'NONSENSE'],
    ['case', 'an-id', '--admin', 'http://127.0.0.1:1'],
    ['rollouts', '--admin', 'http://127.0.0.1:1'],
    ['clients', '--admin', 'http://127.0.0.1:1'],
    ['cutover', '--admin', 'http://127.0.0.1:1'],
  ]

  it.each(LONG.map((argv) => [argv.join(' '), argv] as const))('shows on a terminal that crosswalk %s takes its time', async (_, argv) => {
    const written: string[] = []
    let now = 0
    const screen = {
      write: (text: string) => void written.push(text),
      // Every look at the clock is three seconds after the one before.
      now: () => {
        now += 3000
        return now
      },
      every: (_: number, look: () => void) => {
        queueMicrotask(look)
        return () => {}
      },
    }
    const words: Record<string, string> = { NONSENSE: nonsense, OUT: join(folder, 'out.ts') }
    const io = { ...{ out: () => {}, err: () => {}, stdin: async () => '', untilStopped: () => new Promise<void>(() => {}) }, untilEscaped }
    await run(
      argv.map((word) => words[word] ?? word),
      { ...io, env: { TOKEN: 'x' }, screen },
    )
    expect(written[0]).toMatch(/(reading|asking|sending) .+, 3 s$/)
    expect(written.at(-1)).toBe('\r\u001b[2K')
  })
})

describe('a variable', () => {
  const TOLD = ['README.md', 'CONTRIBUTING.md', ...filesIn('docs'), ...filesIn('docker')]

  function filesIn(folder: string): readonly string[] {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  }

  it('that documents or manifests name is known', () => {
    const names = TOLD.flatMap((file) => readFileSync(file, 'utf8').match(/\bCROSSWALK_[A-Z][A-Z\d_]*[A-Z\d]\b/g) ?? [])
    expect(names.length).toBeGreaterThan(100)
    expect([...new Set(names)].filter((name) => unknownVariables({ [name]: 'x' }).length > 0)).toEqual([])
  })

  it.each([
    'CROSSWALK_SERVICE_HOST',
    'CROSSWALK_SERVICE_PORT_HTTP',
    'CROSSWALK_PORT_8080_TCP_ADDR',
    'CROSSWALK_ADMIN_SERVICE_PORT',
    'CROSSWALK_CANARY_PORT_8080_TCP',
    'CROSSWALK_PORT',
    'CROSSWALK_ADMIN_PORT',
    'CROSSWALK_REDIS_PORT',
  ])('that Kubernetes sets for a service is none of ours: %s', (name) => {
    expect(unknownVariables({ [name]: 'tcp://10.0.0.1:8080' })).toEqual([])
  })

  it('that Docker sets for a linked container is none of ours', () => {
    expect(unknownVariables({ CROSSWALK_NAME: '/web/crosswalk', CROSSWALK_STORE_NAME: '/web/store' })).toEqual([])
  })

  it('that is misspelt is refused, its value is not told', () => {
    expect(unknownVariables({ CROSSWALK_PROT: 'HIDDEN', CROSSWALK_STOR_NAME: 'HIDDEN', CROSSWALK_ZEBRAS_IN_LINE: 'HIDDEN' })).toEqual([
      'The environment variable CROSSWALK_PROT is not a setting; did you mean "CROSSWALK_PORT"?',
      'The environment variable CROSSWALK_STOR_NAME is not a setting; did you mean "CROSSWALK_STORE_NAME"?',
      'The environment variable CROSSWALK_ZEBRAS_IN_LINE is not a setting; crosswalk help serve lists those that are.',
    ])
  })

  it('is like no other by the beginning that all share', () => {
    expect(unknownVariables({ CROSSWALK_FOO: 'x' })).toEqual([
      'The environment variable CROSSWALK_FOO is not a setting; crosswalk help serve lists those that are.',
    ])
  })

  it('counts as unset if it is empty', () => {
    expect(unknownVariables({ CROSSWALK_PROT: '', PORT: 'x' })).toEqual([])
  })
})
