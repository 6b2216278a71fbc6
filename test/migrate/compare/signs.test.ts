import { describe, expect, it } from 'vitest'
import { differences } from '../../../mappings/differences.ts'
import type { SeenAnswer } from '../../../src/migrate/compare/compare.ts'
import type { AskedRequest, ShownByV1 } from '../../../src/migrate/compare/judge.ts'
import type { JsonObject } from '../../../src/tables/json.ts'
import { covers, type Operation } from '../../../src/tables/operation.ts'
import type { Condition, ParamCondition } from '../../../src/tables/query.ts'
import type { Sign } from '../../../src/tables/signs.ts'
import type { DeclaredDifference } from '../../../src/tables/tables.ts'
import { asked, child, court, operations, seen } from '../given.ts'

/** Two answers to one request, and what is said of them. */
type SignRow = readonly [name: string, asked: AskedRequest, v1: SeenAnswer, v2: SeenAnswer]

/** Answers that one declared difference explains, and answers that it must not explain although they are close. */
interface SignRows {
  readonly inside: readonly SignRow[]
  readonly outside: readonly SignRow[]
}

/** The rows of each declared difference with signs, for one of its operations. A test asks for every one of them. */
const SIGN_ROWS: Readonly<Record<string, (operation: Operation) => SignRows>> = {
  'error-details': details,
  'binding-parts-withheld': bindings,
  'lookup-unreadable': lookup,
  'eol-approximated': endOfLife,
  'token-lists-take-windows': windows,
  'repo-count-lower-bound': repoCount,
  'summary-narrowed': summary,
  'advisory-moves-lost': moves,
  'version-origin-lost': origin,
}

const error = (status: number, members: JsonObject = {}) => seen({ code: 3, message: 'no', details: [], ...members }, status)

function details(operation: Operation): SignRows {
  const listed = (...names: string[]) => names.map((name) => ({ '@type': `type.googleapis.com/google.rpc.${name}`, reason: 'R' }))
  const all = ['ErrorInfo', 'BadRequest', 'ResourceInfo', 'PreconditionFailure']
  const row = (name: string, v1: unknown, v2: unknown, members: JsonObject = {}): SignRow => {
    return [name, asked(operation), error(400, { details: v1 }), error(400, { details: v2, ...members })]
  }
  return {
    inside: all.map((name) => row(name, [], listed('ErrorInfo', name))),
    outside: [
      row('other details of v1', listed('ErrorInfo'), listed('BadRequest')),
      row('no list', [], 'ErrorInfo'),
      row('an unknown type', [], listed('ErrorInfo', 'Other')),
      row('an item of no type', [], [{}]),
      row('another message', [], listed('ErrorInfo'), { message: 'yes' }),
      row('another code', [], listed('ErrorInfo'), { code: 9 }),
    ],
  }
}

/** A row of a list: v1's, and v2's with other members or without some. */
function changes(operation: Operation, whole: JsonObject) {
  const list = (...items: unknown[]) => seen({ items, next_page_token: '' })
  return {
    changed: (name: string, members: JsonObject, of: JsonObject = whole): SignRow => {
      return [name, asked(operation), list(of), list({ ...of, ...members })]
    },
    lacking: (name: string, ...members: string[]): SignRow => [name, asked(operation), list(whole), list(without(whole, members))],
    list,
  }
}

function without(object: JsonObject, members: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !members.includes(name)))
}

/** The same rows, where v1 shows the caller this in other reads. */
function proven(rows: readonly SignRow[], shown: ShownByV1): readonly SignRow[] {
  return rows.map(([name, question, ...answers]) => [`${name}, ${JSON.stringify(shown('', ''))}`, { ...question, shown }, ...answers])
}

const NAMED = { id: child(1), name: 'n', description: 'd' }

function bindings(operation: Operation): SignRows {
  const group = { ...NAMED, resource_limits: { a: 1 }, verified: true, kind: 'ORG', status: 'ACTIVE' }
  const role = { ...NAMED, capabilities: ['repo.list'] }
  const whole = { id: child(2), group, role, identity: child(3), email: 'a@b.c', email_unverified: true }
  const { changed, lacking, list } = changes(operation, whole)
  const fewer = { ...group, ...{ kind: undefined } }
  const withheld: readonly SignRow[] = [
    changed('a group that may not be read', { group: NAMED }),
    changed('a role that may not be read', { role: NAMED }),
    lacking('an identity that may not be read', 'email_unverified'),
    ['all of it', asked(operation), list(whole), list(without({ ...whole, group: NAMED, role: NAMED }, ['email_unverified']))],
  ]
  return {
    inside: proven(withheld, () => 'nothing'),
    outside: [
      ...proven(withheld, () => ({ id: child(1) })),
      ...withheld,
      ...proven(
        [
          ...['resource_limits', 'verified', 'kind', 'status'].map((name) =>
            changed(`${name} alone`, { group: without(fewer, [name, 'kind']) }),
          ),
          changed('a role with more', { role: { ...NAMED, version: 1 } }, { ...whole, role: { ...role, version: 1 } }),
        ],
        () => 'nothing',
      ),
      changed('another name', { group: { ...NAMED, name: 'other' } }),
      changed('an unset member', { group: { ...group, verified: null } }),
      lacking('the group', 'group'),
      lacking('the email', 'email'),
      ['a row', asked(operation), list(whole, { ...whole, id: child(4) }), list(whole)],
    ],
  }
}

const PAIR = 'issuer=i&subject=s'

function lookup(operation: Operation): SignRows {
  const times = { created_at: 't', updated_at: 't', last_seen: 't' }
  const relations = { claim_match: { issuer: 'i' }, static: {}, service_principal: 'COSIGNED', aws_identity: {} }
  const whole = (relation: string): JsonObject => ({ ...NAMED, ...times, [relation]: relations[relation as keyof typeof relations] })
  const row = (name: string, v1: JsonObject, v2: JsonObject): SignRow => [name, asked(operation, PAIR), seen(v1), seen(v2)]
  const none = error(404, { code: 5 })
  const id = { id: child(1) }
  const first = whole('claim_match')
  const hidden = [
    ...Object.keys(relations).map((relation) => row(`an identity with ${relation}`, whole(relation), id)),
    row('an identity with its group', { ...first, group_id: child(0) }, { ...id, group_id: child(0) }),
  ]
  // All but what the row is about is explained without it.
  const alone = (names: readonly string[]) => names.map((name) => row(`${name} of a known identity`, { ...id, [name]: first[name] }, id))
  return {
    inside: [...proven(hidden, () => 'nothing'), ['nobody', asked(operation, PAIR), none, seen(id)]],
    outside: [
      ...proven(hidden, () => first),
      ...alone(['name', 'claim_match']),
      ...proven(
        [
          ...Object.keys(first).map((name) => row(`${name} alone`, first, without(first, [name]))),
          ...Object.keys(without(first, ['id'])).map((name) => row(`all but ${name}`, first, { ...id, [name]: first[name] })),
        ],
        () => 'nothing',
      ),
      row('an unset name', first, { ...id, name: '' }),
      row('another id', first, { id: child(2) }),
      ['nobody, and v2 knows a name', asked(operation, PAIR), none, seen({ ...id, name: 'n' })],
      ['nobody, without an issuer', asked(operation, 'subject=s'), none, seen(id)],
      ['nobody, without a subject', asked(operation, 'issuer=i'), none, seen(id)],
      ['a refusal', asked(operation, PAIR), error(403), seen(id)],
      ['a status of its own', asked(operation, PAIR), none, seen(id, 202)],
      ['a status of its own, the other way', asked(operation, PAIR), seen(first), none],
    ],
  }
}

function endOfLife(operation: Operation): SignRows {
  const known = { main_package_name: 'nodejs', main_package_version: { version: '20' }, grace_status: 'GRACE_ACTIVE' }
  const whole = { id: child(1), name: '20', tag_status: 'TAG_ACTIVE', ...known, grace_period_expiry_date: '2026-10-31T00:00:00Z' }
  const { changed, lacking, list } = changes(operation, whole)
  const status = (v1: string, v2: unknown) => changed(`${v1} → ${v2}`, { tag_status: v2 }, { ...whole, tag_status: v1 })
  const [ended, other] = [
    [status('TAG_ACTIVE', 'TAG_INACTIVE'), status('TAG_IN_GRACE', 'TAG_INACTIVE')],
    [status('TAG_INACTIVE', 'TAG_ACTIVE'), status('TAG_IN_GRACE', 'TAG_ACTIVE')],
  ]
  const said = (rows: readonly SignRow[], deprecated: unknown) => proven(rows, () => ({ id: child(1), deprecated }))
  return {
    inside: [
      changed('no package', { main_package_name: '' }),
      changed('no version', { main_package_version: null }),
      changed('no grace', { grace_status: 'GRACE_NOT_ELIGIBLE' }),
      changed('no expiry', { grace_period_expiry_date: null }),
      ...said(ended, true),
      ...said(other, false),
    ],
    outside: [
      ...said(ended, false),
      ...said(other, true),
      ...said([...ended, ...other], undefined),
      ...proven([...ended, ...other], () => 'nothing'),
      ...proven([status('TAG_ACTIVE', 'TAG_IN_GRACE'), status('TAG_INACTIVE', '')], () => ({ deprecated: true })),
      changed('another package', { main_package_name: 'node' }),
      changed('a version that is text', { main_package_version: '' }),
      changed('an expiry that is a number', { grace_period_expiry_date: 0 }),
      changed('another grace', { grace_status: 'GRACE_EXPIRED' }),
      status('TAG_ACTIVE', 'TAG_IN_GRACE'),
      status('TAG_INACTIVE', 'TAG_IN_GRACE'),
      status('TAG_ACTIVE', ''),
      status('TAG_ACTIVE', null),
      changed('another name', { name: '21' }),
      ...Object.keys(whole).map((name) => lacking(`no ${name}`, name)),
      ['a row', asked(operation), list(whole, { ...whole, id: child(2) }), list(whole)],
    ],
  }
}

/** Rows from one position to another, of a list whose rows lie below `parent`, with what is said beside them. */
function pageOf(from: number, to: number, token: string, { parent = child(1), lost = -1 }: { parent?: string; lost?: number } = {}) {
  const items = Array.from({ length: to - from }, (_, nth) => ({ id: `row-${from + nth}`, name: 'n' })).filter((_, nth) => nth !== lost)
  return seen({ items, next_page_token: token, skipped: from, id: parent })
}

function windows(operation: Operation): SignRows {
  const row = (query: string, v2: SeenAnswer, name = query, v1 = pageOf(0, 9, '')): SignRow => [name, asked(operation, query), v1, v2]
  const first = pageOf(0, 2, 'more')
  const second = pageOf(2, 4, 'more')
  return {
    inside: [
      row('limit=2', first),
      row('offset=2&limit=2', second),
      row('page=2&page_size=2', second, 'a page behind that of v1', first),
      row('pageNumber=2&perPage=2', second),
      row('offset=9', pageOf(9, 9, '', { parent: '' })),
    ],
    outside: [
      row('', first),
      row('limit=0', first, 'an empty window'),
      row('limit=x', first, 'a wrong window'),
      row('limit=2&page=1', first, 'two windows'),
      row('page_token=here&limit=2', first, 'a window beside a token'),
      row('limit=3', pageOf(0, 3, 'more', { lost: 1 }), 'a row lost in the window'),
      row('page=1&page_size=2', pageOf(0, 3, 'more'), 'a row beyond both windows', first),
      row('offset=1&limit=2', first, 'another window'),
      row('', pageOf(0, 9, 'more'), 'a token that leads nowhere'),
      row('', pageOf(0, 9, '', { parent: child(2) }), 'another parent'),
      row('', pageOf(0, 9, '', { parent: '' }), 'no parent'),
      row('limit=2', pageOf(0, 2, 'more', { parent: child(2) }), 'another parent of a window'),
      row('limit=2', error(400), 'a refusal'),
    ],
  }
}

function repoCount(operation: Operation): SignRows {
  const [request, nonsense] = [asked(operation, '', { id: child(1) }), asked(operation, '', { id: 'nonsense' })]
  const counted = (v1: unknown, v2: unknown): SignRow => [`${v1} → ${v2}`, request, seen({ count: v1 }), seen({ count: v2 })]
  return {
    inside: [
      counted('5', '3'),
      counted('9007199254740993', '9007199254740992'),
      ['a caller whom v1 refuses', request, error(403), seen({ count: '0' })],
      ['an id that is not a uid', nonsense, error(400), seen({ count: '0' })],
    ],
    outside: [
      ['a count of no uid', nonsense, error(400), seen({ count: '1' })],
      ['no uid that v1 does not find', nonsense, error(404), seen({ count: '0' })],
      ['no uid, and a status of its own', nonsense, error(400), seen({ count: '0' }, 202)],
      ['a refusal of a known repo', request, error(400), seen({ count: '0' })],
      counted('5', '0'),
      counted('5', '7'),
      counted('0', '1'),
      counted('5', '-1'),
      counted('5', ''),
      counted('5', '3.5'),
      counted('5', 3),
      counted('5', null),
      ['no count', request, seen({ count: '5' }), seen({})],
      ['a refusal of v2', request, seen({ count: '5' }), error(403)],
      ['a refusal of what v1 does not find', request, error(404), seen({ count: '0' })],
      ['another answer', request, error(403), seen({ total: '0' })],
      ['a status of its own', request, error(403), seen({ count: '0' }, 202)],
    ],
  }
}

function summary(operation: Operation): SignRows {
  const empty = { id: child(1), tag_count: '0', last_updated: null, latest_tag: null, latest_version: '' }
  const [known, unknown] = [asked(operation, '', { repo_id: child(1) }), asked(operation, '', { repo_id: 'nonsense' })]
  const full = { id: child(1), tag_count: '1', last_updated: 't', latest_tag: { name: 'latest' }, latest_version: '1' }
  const spoilt = Object.entries(full).filter(([name]) => name !== 'id')
  return {
    inside: [
      ['a repo that may not be read', known, error(403), seen(empty)],
      ['an id that is not a uid', unknown, error(400), seen(empty)],
    ],
    outside: [
      ...spoilt.flatMap(([name, value]): SignRow[] => [
        [`${name} of a repo that may not be read`, known, error(403), seen({ ...empty, [name]: value })],
        [`${name} of no uid`, unknown, error(400), seen({ ...empty, [name]: value })],
        [`no ${name}`, known, error(403), seen(without(empty, [name]))],
      ]),
      ['an empty summary of a repo with tags', known, seen(full), seen(empty)],
      ['a wrong parameter of a known repo', known, error(400), seen(empty)],
      ['a repo that v1 does not find', known, error(404), seen(empty)],
      ['no uid that v1 does not find', unknown, error(404), seen(empty)],
      ['a status of its own', known, error(403), seen(empty, 202)],
      ['a status of its own for no uid', unknown, error(400), seen(empty, 202)],
    ],
  }
}

function moves(operation: Operation): SignRows {
  const event = { id: child(2), timestamp: 't', findings: '', author: 'a' }
  const moved = { ...event, component_location_changed: { previous_location: 'a', new_location: 'b' } }
  const found = { ...event, detection: { manual: {} } }
  const isNested = operation.id.endsWith('advisories.list')
  const answer = (...events: JsonObject[]) => seen({ items: isNested ? [{ id: child(1), events }] : events, next_page_token: '' })
  const row = (name: string, v1: JsonObject, ...v2: JsonObject[]): SignRow => [name, asked(operation), answer(v1), answer(...v2)]
  return {
    inside: [row('an event that moved a component', moved, event)],
    outside: [
      row('another event', found, event),
      row('another location', moved, { ...event, component_location_changed: { previous_location: 'a', new_location: 'c' } }),
      row('an unset type', moved, { ...event, component_location_changed: null }),
      row('another type', moved, found),
      row('no event', moved),
      row('an extra type', event, moved),
    ],
  }
}

function origin(operation: Operation): SignRows {
  const known = { source_type: 'SOURCE_TYPE_INTERNAL', malware_scanned: true, malware_malicious: true }
  const whole = { id: child(1), version: '1.0', ...known, upstream_published_date: '2026-01-01T00:00:00Z' }
  const { changed, lacking } = changes(operation, whole)
  return {
    inside: [
      changed('no source', { source_type: 'SOURCE_TYPE_UNSPECIFIED' }),
      changed('not scanned', { malware_scanned: false }),
      changed('not malicious', { malware_malicious: false }),
      changed('no date', { upstream_published_date: null }),
    ],
    outside: [
      changed('another source', { source_type: 'SOURCE_TYPE_UPSTREAM' }),
      changed('a scan where v1 had none', { malware_scanned: true }, { ...whole, malware_scanned: false }),
      changed('another date', { upstream_published_date: '' }),
      changed('a date that is a number', { upstream_published_date: 0 }),
      changed('another version', { version: '1.1' }),
      ...Object.keys(whole).map((name) => lacking(`no ${name}`, name)),
    ],
  }
}

type Signed = DeclaredDifference & Required<Pick<DeclaredDifference, 'signs'>>

const signed = differences.filter((one): one is Signed => one.signs !== undefined)
const coveredBy = (patterns: readonly string[]) => operations.filter(({ id }) => patterns.some((pattern) => covers(pattern, id)))
const cases = signed.flatMap((one) => coveredBy(one.operations).map((operation) => ({ code: one.code, id: operation.id, operation })))

/** Every row of a difference, for each of its operations. */
function rowsOf({ code, operations: patterns }: DeclaredDifference, which: keyof SignRows): readonly SignRow[] {
  return coveredBy(patterns).flatMap((operation) => SIGN_ROWS[code]?.(operation)[which] ?? [])
}

/** Returns the names of the rows with this outcome if these signs were declared. */
function judged(one: DeclaredDifference, signs: readonly Sign[], rows: readonly SignRow[], outcome: 'expected' | 'mismatch') {
  const { judge } = court([{ ...one, signs }])
  return rows.filter(([, asked, v1, v2]) => judge(asked, v1, v2).outcome === outcome).map(([name]) => name)
}

describe('a declared difference', () => {
  it.each(cases)('$code explains what it declares of $id, and nothing beside it', ({ code, operation }) => {
    const { judge } = court(differences)
    const rows = SIGN_ROWS[code]?.(operation) ?? { inside: [], outside: [] }
    const outcomes = (list: readonly SignRow[]) => list.map(([name, asked, v1, v2]) => [name, judge(asked, v1, v2).outcome])
    expect(rows.inside.length).toBeGreaterThan(0)
    expect(rows.outside.length).toBeGreaterThan(0)
    expect(outcomes(rows.inside)).toEqual(rows.inside.map(([name]) => [name, 'expected']))
    expect(outcomes(rows.outside)).toEqual(rows.outside.map(([name]) => [name, 'mismatch']))
  })

  const parts = signed.flatMap((one) =>
    one.signs.flatMap((_, at) => lessened(one.signs, at).map((less) => ({ one, ...less, code: one.code }))),
  )
  it.each(parts)('$code is said of nothing more if it lacks $part', ({ one, signs }) => {
    expect(judged(one, signs, rowsOf(one, 'inside'), 'mismatch')).not.toEqual([])
  })

  const limits = signed.flatMap((one) =>
    one.signs.flatMap((_, at) => loosened(one.signs, at).map((more) => ({ one, ...more, code: one.code }))),
  )
  it.each(limits)('$code would hide a fault without $part', ({ one, signs }) => {
    expect(judged(one, signs, rowsOf(one, 'outside'), 'expected')).not.toEqual([])
  })
})

interface Altered {
  readonly part: string
  readonly signs: readonly Sign[]
}

/** The signs with less in one of them: a place, a pair, a value or a parameter is left out. Some row inside must then be missed. */
function lessened(signs: readonly Sign[], at: number): readonly Altered[] {
  const sign = signs[at] as Sign
  const altered = (part: string, other: Partial<Sign>): Altered => ({
    part: `${part} in sign ${at}`,
    signs: signs.with(at, { ...sign, ...other }),
  })
  const { at: places, pairs = [], v2Items = {}, when = [] } = sign
  return [
    ...places.map((place, nth) => altered(`the place ${place}`, { at: places.toSpliced(nth, 1) })),
    ...pairs.map((pair, nth) => altered(`the pair ${pair}`, { pairs: pairs.toSpliced(nth, 1) })),
    ...Object.entries(v2Items).flatMap(([name, values]) =>
      values.map((value, nth) => altered(`the item ${value}`, { v2Items: { ...v2Items, [name]: values.toSpliced(nth, 1) } })),
    ),
    ...when.flatMap((row, nth) =>
      [row.param]
        .flat()
        .map((name, which) =>
          altered(`the parameter ${name}`, { when: when.with(nth, { ...row, param: [row.param].flat().toSpliced(which, 1) }) }),
        ),
    ),
  ]
}

const LIMITS = ['v1', 'v2', 'pairs', 'v2Counts', 'v2Items', 'v2Shows', 'otherWindow', 'when', 'provenBy'] as const

/** The signs with one limit less in one of them. Some row outside must then be explained. */
function loosened(signs: readonly Sign[], at: number): readonly Altered[] {
  const sign = signs[at] as Sign
  const given = LIMITS.filter((limit) => Object.hasOwn(sign, limit))
  return [
    ...given.map((limit) => ({ part: `${limit} in sign ${at}`, signs: signs.with(at, withoutOfSigns(sign, limit)) })),
    ...loosenedConditions(sign.when ?? []).map(({ part, when }) => ({
      part: `${part} in sign ${at}`,
      signs: signs.with(at, { ...sign, when }),
    })),
  ]
}

function loosenedConditions(when: Condition): readonly { readonly part: string; readonly when: Condition }[] {
  return when.flatMap((row, nth) => [
    { part: `the condition on ${row.param}`, when: when.toSpliced(nth, 1) },
    ...(['is', 'isNot'] as const)
      .filter((test) => row[test] !== undefined)
      .map((test) => ({ part: `${test} of ${row.param}`, when: when.with(nth, withoutOfSigns(row, test) as ParamCondition) })),
  ])
}

function withoutOfSigns<T extends object>(object: T, name: keyof T): T {
  const { [name]: _, ...others } = object
  return others as T
}
