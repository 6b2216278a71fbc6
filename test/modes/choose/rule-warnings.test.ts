import { describe, expect, it } from 'vitest'
import { modesSchema } from '../../../src/migrate/modes/rules.ts'
import { ruleWarnings } from '../../../src/migrate/modes/select.ts'
import { startProxy } from '../../stage/proxy.ts'
import { answering, startUpstream } from '../../stage/upstream.ts'

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
  const v1 = await startUpstream(answering({}))
  const rules = [{ operations: 'iam.groupz.list', mode: 'v1' as const }]
  const modes = modesSchema.parse({ default: 'v2', rules })
  const proxy = await startProxy({ 'upstream.v2': v1.url, 'upstream.v1': v1.url, modes })
  const warning = 'modes.rules.0 (iam.groupz.list) fits no operation; did you mean "iam.groups.list"?'
  expect(proxy.log).toContainEqual(expect.objectContaining({ level: 40, msg: warning }))
  const put = async (body: object) => {
    const init = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    return (await fetch(`${proxy.adminUrl}/modes`, init)).json()
  }
  expect(await put({ default: 'v1', rules })).toMatchObject({ default: 'v1', warnings: [warning] })
  expect(await (await fetch(`${proxy.adminUrl}/modes`)).json()).toMatchObject({ warnings: [warning] })
  expect(await put({ default: 'v1' })).not.toHaveProperty('warnings')
  await proxy.close()
  await v1.close()
})
