import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Client, productOf } from '../../../src/migrate/clients.ts'
import { describeChange, describeRules, type ModeRules, modesSchema, readModeRules } from '../../../src/migrate/modes/rules.ts'
import { createPositions, createSelect, operationModes, type Question, ruleWarnings } from '../../../src/migrate/modes/select.ts'
import type { Mode } from '../../../src/serve/sides.ts'
import { runCommand } from '../../app/cli/support.ts'
import { seeded } from '../../stage/clocks.ts'
import { startStage } from '../../stage/stage.ts'
import { answering } from '../../stage/upstream.ts'
import { operationOf } from '../given.ts'

describe('a probe', () => {
  const list = operationOf('iam.groups.list')
  const create = operationOf('iam.groups.create')
  const always = () => 0

  it('takes its share of the requests while the circuit is open', () => {
    const position = createPositions({ isOpen: () => true, percent: () => 10, random: seeded(1) })
    const probed = Array.from({ length: 10_000 }, () => position(list)).filter((one) => one === 'probed')
    expect(probed.length / 100).toBeCloseTo(10, 0)
  })

  it('takes nothing without a share, and nothing while the circuit is closed', () => {
    expect(createPositions({ isOpen: () => true, percent: () => 0, random: always })(list)).toBe('open')
    expect(createPositions({ isOpen: () => false, percent: () => 100, random: always })(list)).toBe('closed')
  })

  it('takes no write', () => {
    expect(createPositions({ isOpen: () => true, percent: () => 100, random: always })(create)).toBe('open')
  })
})

describe('operation modes', () => {
  const OPERATIONS = [
    { id: 'iam.groups.list', isV1First: false },
    { id: 'registry.eol_tags.list', isV1First: true },
  ]
  const modesOf = (byDefault: string, rules: readonly object[], open?: string) =>
    operationModes(modesSchema.parse({ default: byDefault, rules }), OPERATIONS, (operation) => operation === open).map(
      ({ mode, canary }) => [mode, ...(canary ? [canary.mode, canary.percent] : [])],
    )
  const canary = { percent: 5, mode: 'diff-v2' }

  it('is the first rule for all clients, or the default', () => {
    expect(modesOf('diff-v2', [])).toEqual([['diff-v2'], ['diff-v1']])
    expect(
      modesOf('v1', [
        { operations: '*', clients: 'somebody', mode: 'v2' },
        { operations: 'registry.*', mode: 'v2' },
        { operations: '*', clients: ['x', '*'], mode: 'diff-v1', canary },
      ]),
    ).toEqual([['diff-v1', 'diff-v2', 5], ['v2']])
  })

  it('has a share of 0 if the circuit keeps v2 from the canary', () => {
    const rules = [{ operations: '*', mode: 'v1', canary }]
    expect(modesOf('v1', rules, 'iam.groups.list')).toEqual([
      ['v1', 'diff-v2', 0],
      ['v1', 'diff-v2', 5],
    ])
    expect(modesOf('v1', [{ operations: '*', mode: 'v2', canary }], 'iam.groups.list')[0]).toEqual(['v2', 'diff-v2', 5])
  })
})

describe('rule warnings', () => {
  const OPERATIONS = [
    ...['iam.groups.list', 'iam.groups.create', 'iam.roles.list', 'registry.repos.list'].map((id) => ({ id, kind: 'direct' as const })),
    { id: 'registry.vuln_reports.list', kind: 'v1-only' as const },
  ]
  const [KNOWN, UNKNOWN, OTHER] = ['0123456789abcdef', 'fedcba9876543210', '00000000aaaaaaaa']
  const KNOWN_TO_RULES = { operations: OPERATIONS, callers: () => [{ caller: KNOWN }] }

  const warned = (rules: readonly object[], testers: readonly string[] = [], known = KNOWN_TO_RULES) =>
    ruleWarnings(modesSchema.parse({ default: 'v2', rules: rules.map((rule) => ({ mode: 'v1', ...rule })), testers }), known)
  const canary = { percent: 5, mode: 'v2' }

  describe('there is no warning', () => {
    it.each([
      [[]],
      [[{ operations: 'iam.groups.list' }, { operations: 'iam.*' }, { operations: '*' }]],
      [[{ clients: 'a*' }, { clients: 'b*' }, { clients: 'ab' }]],
      [[{ clients: 'a' }, { operations: 'iam.*' }]],
      [
        [
          { operations: 'iam.*', canary },
          { operations: 'registry.*', canary },
        ],
      ],
      [[{ operations: ['registry.vuln_reports.list', 'registry.repos.list'] }]],
      [[{ clients: [KNOWN, 'alice@example.com', 'fe*'] }]],
    ])('of %j', (rules) => expect(warned(rules)).toEqual([]))

    it('of clients as long as none are known', () => {
      expect(warned([{ clients: UNKNOWN }], [UNKNOWN], { ...KNOWN_TO_RULES, callers: () => [] })).toEqual([])
    })
  })

  const NEVER = 'is never reached: a rule before it fits the same requests, and the first that fits wins.'

  describe('there is a warning', () => {
    it.each([
      [[{ operations: 'iam.groupz.list' }], 'modes.rules.0 (iam.groupz.list) fits no operation; did you mean "iam.groups.list"?'],
      [[{ operations: 'nothing.at.all' }], 'modes.rules.0 (nothing.at.all) fits no operation; crosswalk operations lists them.'],
      [
        [{ operations: ['iam.groupz.list', 'iam.roles.*'] }],
        'modes.rules.0 (iam.groupz.list, iam.roles.*) has the pattern iam.groupz.list, which fits no operation; did you mean "iam.groups.list"?',
      ],
      [
        [{ operations: 'registry.vuln_*' }],
        'modes.rules.0 (registry.vuln_*) fits only operations that v2 does not have: v1 answers them whatever the modes are.',
      ],
      [[{}, { operations: 'iam.groups.list' }], `modes.rules.1 (iam.groups.list) ${NEVER}`],
      [[{ operations: 'iam.roles.list' }, { operations: 'iam.groups.*' }, { operations: 'iam.*' }], `modes.rules.2 (iam.*) ${NEVER}`],
      [[{ clients: ['a', 'b'] }, { operations: 'iam.*', clients: 'b' }], `modes.rules.1 (iam.*) ${NEVER}`],
      [
        [{ canary: { percent: 5, mode: 'v1' } }],
        'modes.rules.0 (*) has a canary with the mode of the rule itself, v1: its share changes nothing.',
      ],
      [
        [
          { operations: 'iam.*', clients: 'a', canary },
          { operations: 'iam.groups.*', canary },
        ],
        'modes.rules.1 (iam.groups.*) has a canary for operations of which modes.rules.0 has one too: a circuit that opens stops both.',
      ],
      [
        [{ clients: [KNOWN, UNKNOWN] }],
        'modes.rules.0 (*) names a client that sent nothing so far (number 2); crosswalk clients lists those that did.',
      ],
    ])('of %j', (rules, warning) => expect(warned(rules)).toEqual([warning]))

    it('of testers that sent nothing', () => {
      expect(warned([], [UNKNOWN, KNOWN, OTHER])).toEqual([
        'modes.testers names clients that sent nothing so far (numbers 1, 3); crosswalk clients lists those that did.',
      ])
    })
  })

  describe('many rules', () => {
    it('are told about up to a number of warnings', () => {
      const said = warned(Array.from({ length: 100 }, () => ({ operations: 'x'.repeat(10_000) })))
      expect(said).toHaveLength(21)
      expect(said.at(-1)).toBe('modes.rules from 20 on are not checked yet.')
      expect(said.join().length).toBeLessThan(5000)
    })

    it('are not held against each other beyond a number', () => {
      expect(warned(Array.from({ length: 1001 }, (_, nth) => ({ clients: `c${nth}` })))).toEqual([
        'modes.rules have 1001 patterns of operations: more than 1000 are not checked.',
      ])
    })

    it('ask once for the clients that are known', () => {
      let asked = 0
      const callers = () => {
        asked += 1
        return [{ caller: KNOWN }]
      }
      warned(
        Array.from({ length: 10 }, () => ({ clients: KNOWN })),
        [KNOWN],
        { ...KNOWN_TO_RULES, callers },
      )
      expect(asked).toBe(1)
    })
  })

  it('PUT and GET /modes and the log report rules without effect', async () => {
    const both = answering({})
    const rules = [{ operations: 'iam.groupz.list', mode: 'v1' as const }]
    const modes = modesSchema.parse({ default: 'v2', rules })
    const proxy = await startStage({ v1: both, v2: both, proxy: { modes } })
    const warning = 'modes.rules.0 (iam.groupz.list) fits no operation; did you mean "iam.groups.list"?'
    expect(proxy.log).toContainEqual(expect.objectContaining({ level: 40, msg: warning }))
    const put = async (body: object) => {
      const init = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
      return (await fetch(`${proxy.adminUrl}/modes`, init)).json()
    }
    expect(await put({ default: 'v1', rules })).toMatchObject({ default: 'v1', warnings: [warning] })
    expect(await (await fetch(`${proxy.adminUrl}/modes`)).json()).toMatchObject({ warnings: [warning] })
    expect(await put({ default: 'v1' })).not.toHaveProperty('warnings')
  })
})

describe('a change of rules', () => {
  const modes = (byDefault: string, rules: readonly object[] = [], testers: readonly string[] = []): ModeRules =>
    modesSchema.parse({ default: byDefault, rules, testers })
  const rule = (operations: string | string[], mode: string, more: object = {}) => ({ operations, mode, ...more })
  const HASH = '0123456789abcdef'
  const rollout = (steps: readonly number[], more: object = {}) => ({
    canary: { mode: 'diff-v2', rollout: { name: 'iam', steps: steps.map((percent) => ({ percent, hold: '1h' })), ...more } },
  })

  it.each([
    [modes('v1'), modes('v2'), 'default: v1 → v2'],
    [modes('v1'), modes('v1'), 'nothing differs'],
    [
      modes('v1', [rule('iam.*', 'diff-v1')]),
      modes('v1', [rule('iam.*', 'diff-v1', { canary: { percent: 5, mode: 'diff-v2' } })]),
      'iam.*: diff-v1 → diff-v1, 5 % diff-v2; default: unchanged',
    ],
    [modes('v1', [rule('a.*', 'v2')]), modes('v1', [rule('b.*', 'v2')]), 'b.*: no rule → v2; a.*: v2 → no rule; default: unchanged'],
    [modes('v1'), modes('v1', [rule(['a.*', 'b.*'], 'v2', { clients: HASH })]), `a.* b.* for ${HASH}: no rule → v2; default: unchanged`],
    [
      modes('v1', [rule('a', 'v1'), rule('b', 'v2')]),
      modes('v1', [rule('b', 'v2'), rule('a', 'v1')]),
      'the rules are in another order; default: unchanged',
    ],
    [modes('v1'), modes('v1', [], [HASH, 'x']), `testers: no testers → testers ${HASH} and another client; default: unchanged`],
    [
      modes('v1', [rule('a', 'v1', { clients: ['x', 'y'] })]),
      modes('v1', [rule('a', 'v1', { clients: ['x', 'z'] })]),
      'a for 2 clients: other clients; default: unchanged',
    ],
    [
      modes('v1', [rule('a', 'v1', { clients: 'x' }), rule('a', 'v1', { clients: 'y' })]),
      modes('v1', [rule('a', 'v1', { clients: 'x' }), rule('a', 'v2', { clients: 'y' })]),
      'a for 1 client (2): v1 → v2; default: unchanged',
    ],
    [
      modes('v1', [rule('a', 'v1', rollout([5, 50]))]),
      modes('v1', [rule('a', 'v1', rollout([5, 20, 50]))]),
      'a: v1, rollout iam (5 %, 50 %) diff-v2 → v1, rollout iam (5 %, 20 %, 50 %) diff-v2; default: unchanged',
    ],
    [
      modes('v1', [rule('a', 'v1', rollout([5, 50]))]),
      modes('v1', [rule('a', 'v1', rollout([5, 50], { retries: 1 }))]),
      'a: v1, rollout iam (5 %, 50 %) diff-v2, with other conditions; default: unchanged',
    ],
  ])('is one line (%#)', (before, after, line) => expect(describeChange(before, after)).toBe(line))

  it('names the subjects of clients only if they may be shown', () => {
    const [before, after] = [modes('v1'), modes('v1', [rule('a', 'v2', { clients: ['alice', 'bob'] })], ['carol'])]
    for (const line of [describeChange(before, after), describeRules(after)]) expect(line).not.toMatch(/alice|bob|carol/)
    expect(describeChange(before, after, true)).toBe(
      'a for alice, bob: no rule → v2; testers: no testers → testers carol; default: unchanged',
    )
    expect(describeRules(after, true)).toBe('a for alice, bob v2; everything else v1; testers carol')
  })

  it('has a bounded length', () => {
    const rules = Array.from({ length: 1000 }, (_, nth) => rule(`${nth}.${'x'.repeat(1000)}`, 'v1', { clients: 'y'.repeat(1000) }))
    for (const line of [describeChange(modes('v1'), modes('v1', rules), true), describeRules(modes('v1', rules), true)]) {
      expect(line.length).toBeLessThan(30_000)
      expect(line).toMatch(/; and 96\d more$/)
    }
  })
})

describe('select', () => {
  const rules = (given: object) => {
    const read = readModeRules(given)
    if ('problem' in read) throw new Error(read.problem)
    return read
  }

  const question = (values: Partial<Question>): Question => ({
    caller: '0000000000000000',
    subject: undefined,
    operation: 'registry.repos.list',
    circuit: 'closed',
    ...values,
  })

  const callers = Array.from({ length: 2000 }, (_, nth) => (nth * 2654435761).toString(16).padStart(16, '0').slice(-16))
  const hashes = callers.map((text) => text.slice(-8) + text.slice(0, 8))

  const canary = (percent: number): ModeRules => rules({ default: 'v1', rules: [{ mode: 'v1', canary: { percent, mode: 'v2' } }] })
  const onV2 = (given: ModeRules, circuit: Question['circuit'] = 'closed') => {
    const select = createSelect(given)
    return hashes.filter((caller) => select(question({ caller, circuit })) === 'v2')
  }

  describe('a mode', () => {
    const select = createSelect(
      rules({
        default: 'v1',
        rules: [
          { operations: 'registry.*', clients: ['0000000000000001', 'ci-*'], mode: 'v2' },
          { operations: ['registry.repos.list', 'iam.groups.list'], mode: 'diff-v1' },
          { operations: 'iam.*', mode: 'diff-v2' },
        ],
      }),
    )

    it.each<[Partial<Question>, Mode]>([
      [{}, 'diff-v1'],
      [{ caller: '0000000000000001' }, 'v2'],
      [{ subject: 'ci-7' }, 'v2'],
      [{ subject: 'aci-7' }, 'diff-v1'],
      [{ operation: 'iam.groups.list', subject: 'ci-7' }, 'diff-v1'],
      [{ operation: 'iam.groups.create' }, 'diff-v2'],
      [{ operation: 'registry.tags.list' }, 'v1'],
    ])('of %j is that of the first rule that fits: %s', (values, mode) => {
      expect(select(question(values))).toBe(mode)
    })

    it.each<[Mode, Mode]>([
      ['v1', 'v1'],
      ['v2', 'v1'],
      ['diff-v1', 'diff-v1'],
      ['diff-v2', 'diff-v1'],
    ])('of an operation that v1 answers first is, for the default %s, %s', (byDefault, mode) => {
      expect(createSelect(rules({ default: byDefault }))(question({ isV1First: true }))).toBe(mode)
    })

    it('of an operation that v1 answers first still follows a rule or a tester', () => {
      const given = rules({ default: 'v1', rules: [{ operations: 'registry.*', mode: 'diff-v2' }], testers: ['me'] })
      expect(createSelect(given)(question({ isV1First: true }))).toBe('diff-v2')
      expect(createSelect(given)(question({ isV1First: true, subject: 'me', wish: 'v2' }))).toBe('v2')
    })

    it('reads a pattern literally, and nothing in it as an expression', () => {
      const dotted = createSelect(rules({ default: 'v2', rules: [{ clients: 'a.b+c(d', mode: 'v1' }] }))
      expect(dotted(question({ subject: 'a.b+c(d' }))).toBe('v1')
      expect(dotted(question({ subject: 'axb+c(d' }))).toBe('v2')
    })
  })

  describe('a canary share', () => {
    it('includes about as many callers as it says', () => {
      for (const percent of [1, 10, 50]) expect(onV2(canary(percent)).length / hashes.length).toBeCloseTo(percent / 100, 1)
      expect(onV2(canary(0))).toHaveLength(0)
      expect(onV2(canary(100))).toHaveLength(hashes.length)
    })

    it('moves no caller back and no caller anew when it is raised', () => {
      let before = new Set<string>()
      for (const percent of [1, 5, 10, 25, 50, 75, 100]) {
        const now = new Set(onV2(canary(percent)))
        expect([...before].filter((caller) => !now.has(caller))).toEqual([])
        expect([...now]).toEqual(onV2(canary(percent)))
        before = now
      }
    })

    it('includes no caller while the circuit is open', () => {
      expect(onV2(canary(50), 'open')).toEqual([])
    })

    it('is compared behind the backs of its clients while the circuit is probed', () => {
      const select = createSelect(canary(50))
      expect(new Set(hashes.map((caller) => select(question({ caller, circuit: 'probed' }))))).toEqual(new Set(['diff-v1']))
    })

    it('that compares on v2 does not change while the circuit is open', () => {
      const nets = rules({ default: 'v2', rules: [{ mode: 'v2', canary: { percent: 50, mode: 'diff-v2' } }] })
      const select = createSelect(nets)
      expect(hashes.some((caller) => select(question({ caller, circuit: 'open' })) === 'diff-v2')).toBe(true)
    })
  })

  describe('x-crosswalk-mode', () => {
    const select = createSelect(rules({ default: 'v1', testers: ['qa@example.com'] }))

    it('is obeyed for testers only', () => {
      expect(select(question({ subject: 'qa@example.com', wish: 'diff-v2' }))).toBe('diff-v2')
      expect(select(question({ subject: 'somebody', wish: 'diff-v2' }))).toBe('v1')
      expect(select(question({ wish: 'nonsense' }))).toBe('v1')
    })

    it('is refused if it names no mode', () => {
      expect(() => select(question({ subject: 'qa@example.com', wish: 'v3' }))).toThrow(
        'Invalid argument: x-crosswalk-mode: must be one of v1, v2, diff-v1, diff-v2',
      )
    })
  })

  it.each([
    [{ default: 'v3' }, 'The modes are wrong: default must be one of v1, v2, diff-v1, diff-v2.'],
    [{ default: 'v2', rules: [{ mode: 'v1', colour: 'red' }] }, 'The modes are wrong: rules.0 has no member "colour".'],
    [{ default: 'v2', rules: {} }, 'The modes are wrong: rules must be a list of rules.'],
    [{ default: 'v2', rules: [1] }, 'The modes are wrong: rules.0 must be an object {"operations", "clients", "mode", "canary"}.'],
    [
      { default: 'v2', rules: [{ mode: 'v1', canary: 'v2' }] },
      'The modes are wrong: rules.0.canary must be an object {"mode", "percent"} or {"mode", "rollout"}.',
    ],
    [{ default: 'v2', testers: [''] }, 'The modes are wrong: testers.0 must be a pattern, and not empty.'],
    [
      { default: 'v2', rules: [{ operations: [], mode: 'v1' }] },
      'The modes are wrong: rules.0.operations must be a pattern or a list of patterns, none of them empty.',
    ],
    [{ rules: [] }, 'The modes are wrong: default is required.'],
    [
      { default: 'v2', rules: [{ operations: 5, mode: 'v1' }] },
      'The modes are wrong: rules.0.operations must be a pattern or a list of patterns, none of them empty.',
    ],
    ['v1', 'The modes are wrong: must be an object {"default", "rules", "testers"}.'],
  ])('refuses the rules %j', (given, problem) => {
    expect(readModeRules(given)).toEqual({ problem })
  })
})

it.each(['diff-v1', 'diff-v2'] as const)('in mode %s v2 is compared as clients get it, rows as text included', async (mode) => {
  const stage = await startStage({ mode })
  const plain = await stage.request('GET', '/iam/v1/groups', { headers: { 'x-crosswalk-mode': 'v2' } })
  await stage.settled()
  await stage.setModes({ default: 'v2' })
  const served = await stage.request('GET', '/iam/v1/groups')
  expect(served.body).toEqual(plain.body)
  expect(served.headers.get('content-length')).toMatch(/^\d+$/)
  await stage.setModes({ default: mode })
  const compared = await stage.request('GET', '/iam/v1/groups')
  await stage.settled()
  expect(compared.body).toEqual(served.body)
  if (mode === 'diff-v2') expect(compared.headers.get('content-length')).toBe(served.headers.get('content-length'))
  expect((await stage.evidence()).operations).toMatchObject([{ matches: 1, mismatches: 0, inconclusive: 0 }])
})

describe('who', () => {
  it.each([
    ['terraform-provider-chainguard/0.1.27 (linux; amd64) terraform/1.9', 'terraform-provider-chainguard/0.1.27'],
    ['curl/8.5.0', 'curl/8.5.0'],
    ['Mozilla/5.0 (X11; Linux x86_64)', 'Mozilla/5.0'],
    ['Go-http-client/1.1', 'Go-http-client/1.1'],
    ['grpc-go/1.60.1', 'grpc-go/1.60.1'],
    ['aws-sdk-go-v2/1.2.3-beta.4', 'aws-sdk-go-v2/1.2.3'],
    ['k8s.io', 'k8s.io'],
    ['okhttp', 'okhttp'],
    ['tool/v2.1', 'tool/2.1'],
    ['tool/9f8e7d6c5b4a39281706f5e4d3c2b1a0', 'tool'],
    ['ghp_16C7e42F292c6912E7710c838347Ae178B4a', undefined],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2VjcmV0', undefined],
    ['AKIAIOSFODNN7EXAMPLE9Z8Y7X6W5V/1', undefined],
    ['4f1c9e2a-7f3b-4a53-9f0e-2f5c1b7d8a90', undefined],
    ['someone@example.com', undefined],
    ['=cmd|calc', undefined],
    ['', undefined],
  ])('reads the product of %s', (header, product) => {
    expect(productOf(header)).toBe(product)
  })

  it('keeps no header that is no name of a program, and never more than 80 characters of one', () => {
    const hex = fc.stringMatching(/^[0-9a-f]{32,64}$/)
    const base64 = fc.uint8Array({ minLength: 24, maxLength: 48 }).map((bytes) => Buffer.from(bytes).toString('base64url'))
    fc.assert(
      fc.property(
        fc.oneof(
          hex,
          base64.filter((text) => (text.match(/[0-9]/g)?.length ?? 0) > 6),
        ),
        (secret) => productOf(secret) === undefined,
      ),
    )
    fc.assert(fc.property(fc.string({ maxLength: 300 }), (header) => /^[\w.+-]{1,60}(?:\/[\d.]{1,17})?$/.test(productOf(header) ?? 'none')))
  })

  it('tells the product and the name of a client everywhere, and takes another name while it serves', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'crosswalk-who-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'records.ndjson')
    const stage = await startStage({ proxy: { 'records.file': file } })
    const ask = (agent: string, path = '/iam/v1/groups') => stage.request('GET', path, { headers: { 'user-agent': agent } })
    await ask('terraform-provider-x/1.2 (secret-of-alice)')
    for (const nth of [1, 2, 3, 4, 5, 6]) await ask(`tool${nth}/1.0`)
    await stage.settled()
    const clients = async () => (await (await fetch(`${stage.adminUrl}/clients`)).json()) as readonly Client[]
    const [client] = await clients()
    expect(client?.agents).toEqual(['terraform-provider-x/1.2', 'tool1/1.0', 'tool2/1.0', 'tool3/1.0'])
    expect(client?.name).toBeUndefined()

    const { caller = '' } = client ?? {}
    expect(stage.reload({ 'clients.names': { [caller]: 'Terraform of ops' } })).toBeUndefined()
    expect((await clients())[0]?.name).toBe('Terraform of ops')
    const run = (...argv: readonly string[]) => runCommand(['clients', ...argv, '--admin', stage.adminUrl])
    const listed = (await run()).out
    expect(listed).toContain(`${caller} Terraform of ops  could call v2 itself`)
    expect(listed).toContain('  calls itself terraform-provider-x/1.2, tool1/1.0')
    const csv = (await run('--csv')).out.split('\r\n')
    expect(csv[0]).toMatch(/,agents,name$/)
    expect(csv[1]).toMatch(/,terraform-provider-x\/1\.2 tool1\/1\.0 .*,Terraform of ops$/)
    const guide = await run('Terraform of ops', '--guide')
    expect(guide.out).toContain('# Move Terraform of ops from v1 to v2')
    expect(guide.out).toContain(`(\`${caller}\`), which calls itself \`terraform-provider-x/1.2\` and \`tool1/1.0\``)
    const cutover = await runCommand(['cutover', '--admin', stage.adminUrl, '--clients', 'Terraform of ops', '--json'])
    expect(cutover.err).toBe('')
    expect(JSON.parse(cutover.out)).toMatchObject({ operations: [{ clients: [{ caller, name: 'Terraform of ops' }] }] })
    const { err } = await runCommand(['cutover', '--admin', stage.adminUrl, '--clients', 'Terraform of op'])
    expect(err).toBe('--clients "Terraform of op" fits no client that was seen; did you mean "Terraform of ops"?')
    const report = (await (await fetch(`${stage.adminUrl}/report.json`)).json()) as { readonly clients: readonly Client[] }
    expect(report.clients[0]).toMatchObject({ name: 'Terraform of ops', agents: client?.agents })

    await stage.close()
    const written = readFileSync(file, 'utf8')
    expect(written).toContain('"agents":["terraform-provider-x/1.2"')
    expect(written).not.toContain('secret-of-alice')
    const again = await startStage({ proxy: { 'records.file': file, 'clients.names': { [caller]: 'Terraform' } } })
    const [restored] = (await (await fetch(`${again.adminUrl}/clients`)).json()) as readonly Client[]
    expect([restored?.name, restored?.agents]).toEqual(['Terraform', client?.agents])
  })

  it.each([['3f2a='], ['=Terraform'], ['Terraform']])('refuses %s as names of clients', async (given) => {
    const { code, err } = await runCommand(['serve', '--check', '--upstream-v2', 'http://127.0.0.1:1', '--clients-names', given])
    expect([code, err]).toEqual([2, expect.stringMatching(/^clients\.names.* must be an object of hashes and names/)])
  })
})
