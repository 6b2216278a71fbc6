import { describe, expect, it } from 'vitest'
import { checkMappings } from '../../src/tables/check.ts'
import { type Fields, firstOf, flag, nested, object, readOnly, text } from '../../src/tables/fields.ts'
import type { Operation } from '../../src/tables/operation.ts'
import { action, create, list, v1Only } from '../../src/tables/operations.ts'
import type { Params } from '../../src/tables/query.ts'
import { passes } from '../../src/tables/recheck.ts'
import { message, type Resource, resource } from '../../src/tables/resource.ts'

describe('the check of tables', () => {
  const thing = resource('thing', { v2: '/iam/v2/things', plural: 'things', fields: { id: readOnly('uid'), name: text('name') } })
  const reading = list('iam.things.list', 'GET /iam/v1/things', thing, { byId: 'id' })
  const parentRoute = 'POST /iam/v1/things/{parent_id=**}'
  const check = (...operations: Operation[]) => checkMappings([{ domain: 'iam', operations }])
  const route = 'POST /iam/v1/things'
  const readBack = { unverifiable: 'nothing shows it' }
  const withBody = (fields: Fields) =>
    action('iam.things.create', route, { v2: 'POST /iam/v2/things', request: message('thing', fields), readBack })
  const found = (of: Resource, answer: string, missing: 'empty' | 'error' = 'error') => [
    action('iam.things.get', 'GET /iam/v1/things/{name}', { v2: 'GET /iam/v2/things/{name}', answer: of, selects: 'name', missing }),
    action('iam.things.create', route, { v2: 'POST /iam/v2/things', answer: of, readBack: { resource: of, named: { answer } } }),
  ]
  const withQuery = (params: Params) => action('iam.things.create', route, { v2: 'POST /iam/v2/things', params, readBack })

  it.each<[string, Operation[], string]>([
    [
      'a member spelled like another',
      [withBody({ group_id: text('a'), groupId: text('b') })],
      'thing: "groupId" names two members, group_id and groupId',
    ],
    ['two members with one target', [withBody({ a: text('x'), b: text('x') })], 'thing: a and b are both written to the v2 member x'],
    ['the same, deeper', [withBody({ o: object('o', { a: text('x'), b: text('x') }) })], 'thing.o: a and b are both written'],
    [
      'a written member without one target',
      [withBody({ a: text(firstOf('x', 'y')) })],
      'thing.a is written to v2 but names no single v2 member',
    ],
    [
      'a parameter spelled like another',
      [withQuery({ page_size: 'a', pageSize: 'b' })],
      'the query of iam.things.create: "pageSize" names two',
    ],
    [
      'an id twice',
      [v1Only('iam.x.y', 'GET /iam/v1/x', 'why'), v1Only('iam.x.y', 'GET /iam/v1/z', 'why')],
      'operation id iam.x.y stands twice',
    ],
    ['an id of another domain', [v1Only('registry.x.y', 'GET /iam/v1/x', 'why')], 'its id must begin with "iam."'],
    ['no reason', [v1Only('iam.x.y', 'GET /iam/v1/x', '')], 'operation iam.x.y is v1-only but has no reason'],
    ['no plan', [{ ...v1Only('iam.x.y', 'GET /iam/v1/x', 'why'), kind: 'direct' }], 'operation iam.x.y is direct but has no plan'],
    [
      'a write that cannot be read back',
      [{ ...withBody({ a: text('x') }), readBack: undefined as never }],
      'iam.things.create writes, but says neither how its effect is read nor why it cannot be',
    ],
    [
      'a resource that no operation reads',
      [create('iam.things.create', parentRoute, thing)],
      'writes a thing, and no operation reads a single one',
    ],
    [
      'a member that is shown nowhere',
      [reading, create('iam.things.create', parentRoute, thing, { shownAs: { name: 'label' } })],
      'name is shown as label, which a thing does not have',
    ],
    [
      'a member that is shown in another form',
      [reading, create('iam.things.create', parentRoute, thing, { answer: message('made', { id: text('uid'), name: flag('name') }) })],
      'a thing shows name in another form',
    ],
    [
      'a resource without a uid that no read finds missing',
      found(resource('thing', { v2: '/iam/v2/things', plural: 'things', fields: { key: text('key') } }), 'key', 'empty'),
      'a thing has no uid, and iam.things.get does not answer a missing one with an error; let it',
    ],
    ['an answer that does not name what it wrote', found(thing, 'number'), 'its answer has no number, which should name what it wrote'],
    [
      'a read that a write cannot fill',
      [
        action('iam.things.get', 'GET /iam/v1/{other}/{id}', { v2: 'GET /iam/v2/{other}/{id}', answer: thing, selects: 'id' }),
        ...found(thing, 'id').slice(1),
      ],
      'iam.things.get needs other, which its route does not have; name the variables of both alike',
    ],
  ])('refuses %s', (_, operations, sentence) => {
    expect(() => check(...operations)).toThrow(sentence)
  })

  it('lets shown members share a source, and nested v1 members be flat', () => {
    expect(() => check(withBody({ a: text('x'), b: readOnly('x'), inner: nested({ c: text('y') }), deep: text('p.q') }))).not.toThrow()
  })

  it('refuses a route that is no route', () => expect(() => v1Only('iam.x.y', '/iam/v1/x', 'why')).toThrow('must read "METHOD /path"'))
})

describe('filters beside an id, checked on the row of the Get (facts §11)', () => {
  const tag = { uid: 'org/repo/tag', name: '1.2-r3', digest: 'sha256:ab', keyId: 'k', updateTime: '2025-01-02T03:04:05Z' }

  it.each<[boolean, string, string]>([
    [true, 'uidp.descendants_of', 'org'],
    [true, 'uidp.descendants_of', 'org/repo'],
    [false, 'uidp.descendants_of', 'org/repo/tag'],
    [false, 'uidp.descendants_of', 'or'],
    [true, 'uidp.children_of', 'org/repo'],
    [false, 'uidp.children_of', 'org'],
    [true, 'uidp.ancestors_of', 'org/repo/tag'],
    [true, 'uidp.ancestors_of', 'org/repo/tag/x'],
    [false, 'uidp.ancestors_of', 'org/repo'],
    [false, 'uidp.in_root', 'true'],
    [true, 'uidp.in_root', 'false'],
    [true, 'name', '1.2-r3'],
    [false, 'name', '1.2'],
    [true, 'digest', 'sha256:ab'],
    [true, 'key_id', 'k'],
    [false, 'key_id', 'other'],
    [true, 'updated_since', '2025-01-02T03:04:04.999Z'],
    [false, 'updated_since', '2025-01-02T04:04:05+01:00'],
    [false, 'include_epochs', 'false'],
    [true, 'include_epochs', 'true'],
    [true, 'include_dates', 'false'],
    [true, 'include_referrers', 'false'],
  ])('%s: %s=%s', (pass, name, value) => {
    expect(passes(tag, [[name, value]])).toBe(pass)
  })

  it('must all pass; ids are alternatives', () => {
    expect(passes(tag, [])).toBe(true)
    expect(
      passes(tag, [
        ['uidp.ids', 'x'],
        ['uidp.ids', 'org/repo/tag'],
        ['name', '1.2-r3'],
      ]),
    ).toBe(true)
    expect(
      passes(tag, [
        ['uidp.ids', 'x'],
        ['name', '1.2-r3'],
      ]),
    ).toBe(false)
  })

  it('ignore artifact names beside an origin', () => {
    const query = [
      ['origin', 'nginx'],
      ['artifact_names', 'other'],
    ] as const
    expect(passes({ uid: 'org/a', artifactName: 'nginx' }, query)).toBe(true)
    expect(passes({ uid: 'org/a', artifactName: 'curl' }, query)).toBe(false)
  })

  const advisory = {
    uid: 'org/cve',
    artifactName: 'nginx',
    artifactType: 'APK',
    artifactArchitecture: 'x86_64',
    componentName: 'openssl',
    componentType: 'go-module',
    componentLocation: '/usr/bin/nginx',
    advisoryId: 'CGA-1',
    legacyAdvisoryId: 'CVE-1',
    aliases: ['GHSA-1', 'CVE-2'],
    events: [
      { reviewState: 'REVIEW_STATE_APPROVED', createTime: '2025-01-03T00:00:00Z', author: 'ann', reviewer: 'bob', fixed: {} },
      { reviewState: 'REVIEW_STATE_APPROVED', createTime: '2025-01-02T00:00:00Z', author: 'eve', reviewer: 'bob', detection: {} },
      { reviewState: 'REVIEW_STATE_PENDING', createTime: '2025-01-04T00:00:00Z', author: 'ann', reviewer: 'zoe', pendingUpstreamFix: {} },
    ],
  }

  it.each([
    ['artifact_names', 'nginx'],
    ['artifact_types', 'APK'],
    ['artifact_architectures', 'x86_64'],
    ['component_names', 'openssl'],
    ['component_types', 'go-module'],
    ['component_locations', '/usr/bin/nginx'],
    ['advisory_ids', 'CGA-1'],
    ['legacy_advisory_ids', 'CVE-1'],
    ['aliases', 'CVE-2'],
    ['origin', 'nginx'],
    ['event_review_states', 'REVIEW_STATE_PENDING'],
    ['event_authors', 'eve'],
    ['event_reviewers', 'zoe'],
    ['event_types', 'EVENT_TYPE_FILTER_PENDING_UPSTREAM_FIX'],
    ['latest_event_type', 'EVENT_TYPE_FILTER_FIXED'],
  ])('of an advisory: %s takes %s and nothing else', (name, value) => {
    expect(passes(advisory, [[name, value]])).toBe(true)
    expect(passes(advisory, [[name, `${value}x`]])).toBe(false)
    expect(passes({ uid: advisory.uid }, [[name, value]])).toBe(false)
  })

  it('of an advisory: the latest event is the last one that was approved, and an author may be excluded', () => {
    expect(passes(advisory, [['latest_event_type', 'EVENT_TYPE_FILTER_DETECTION']])).toBe(false)
    expect(passes(advisory, [['latest_event_type', 'EVENT_TYPE_FILTER_PENDING_UPSTREAM_FIX']])).toBe(false)
    expect(passes(advisory, [['exclude_event_authors', 'eve']])).toBe(false)
    expect(passes(advisory, [['exclude_event_authors', 'zoe']])).toBe(true)
  })

  it('are checked once each, however often they are given', () => {
    const types = Array(100_000).fill(['event_types', 'EVENT_TYPE_FILTER_FIXED'])
    const authors = Array(100_000).fill(['event_authors', 'nobody'])
    const events = Array.from({ length: 1000 }, () => ({ author: 'a', detection: {} }))
    expect(passes({ ...tag, events: [...events, { author: 'nobody', fixed: {} }] }, [...types, ...authors])).toBe(true)
    expect(passes({ ...tag, events }, [...types, ...authors])).toBe(false)
  })

  it('recognise tags hidden from v2’s default lists by their names', () => {
    expect(passes({ ...tag, name: 'sha256-abc.sig' }, [['include_referrers', 'false']])).toBe(false)
    expect(passes({ ...tag, name: 'latest-20250102' }, [['include_dates', 'false']])).toBe(false)
    expect(passes({ ...tag, name: 'latest-19250102' }, [['include_dates', 'false']])).toBe(true)
  })
})
