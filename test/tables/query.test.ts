import { describe, expect, it } from 'vitest'
import { ApiError } from '../../src/errors.ts'
import { prefixed } from '../../src/tables/fields.ts'
import {
  type Condition,
  choiceParam,
  choicesParam,
  compileCondition,
  count,
  flagParam,
  intParam,
  negated,
  type Params,
  paramsOf,
  readOrder,
  scope,
  single,
  textsParam,
  timeParam,
  v2Query,
} from '../../src/tables/query.ts'
import { asked, operationOf } from '../migrate/given.ts'
import { queryOf } from './run.ts'

describe('query', () => {
  const kind = prefixed('Kind', 'KIND_', ['UNKNOWN', 'KIND_UNSPECIFIED'], [['A', 1]])
  const params: Params = {
    name: 'name',
    updated_since: timeParam('updated_since'),
    deep: flagParam('deep'),
    top: intParam('top'),
    kind: choiceParam('kind', kind),
    ids: textsParam('ids'),
  }
  const translated = (search: string) => v2Query(params, queryOf(search))

  describe('a v1 query', () => {
    it('becomes v2’s, in the order of the table; unknown parameters are dropped', () => {
      expect(translated('top=3&colour=red&name=a b&deep=T')).toEqual([
        ['name', 'a b'],
        ['deep', 'true'],
        ['top', '3'],
      ])
    })

    it('is read in either spelling', () => {
      expect(translated('updatedSince=2025-01-02T03:04:05Z')).toEqual([['updated_since', '2025-01-02T03:04:05Z']])
      expect(v2Query(scope, queryOf('uidp.childrenOf=org&uidp.inRoot=0'))).toEqual([
        ['uidp.children_of', 'org'],
        ['uidp.in_root', 'false'],
      ])
    })

    it('filters nothing by an empty text (facts §11)', () => expect(translated('name=&ids=')).toEqual([]))

    it.each(['kind=', 'kind=%20', 'kind=0x1', 'kind=1e0'])('refuses %s as an enum value', (search) => {
      expect(() => translated(search)).toThrow('is not a valid value')
    })

    it('omits the zero value of an enum that filters nothing by it', () => {
      const asking: Params = {
        one: { ...choiceParam('one', kind), zeroIsNone: true },
        all: { ...choicesParam('all', kind), zeroIsNone: true },
      }
      expect(v2Query(asking, queryOf('one=UNKNOWN&all=0&all=A'))).toEqual([['all', 'KIND_A']])
      expect(v2Query(asking, queryOf('one=1&all=UNKNOWN'))).toEqual([['one', 'KIND_A']])
    })

    it('repeats a repeated parameter in any spelling', () => {
      expect(v2Query(scope, queryOf('uidp.ids=a&uidp.ids=b,c'))).toEqual([
        ['uidp.ids', 'a'],
        ['uidp.ids', 'b,c'],
      ])
    })

    it.each([
      ['1', 'true'],
      ['t', 'true'],
      ['TRUE', 'true'],
      ['0', 'false'],
      ['F', 'false'],
      ['False', 'false'],
    ])('reads the flag %s as %s', (text, flag) => {
      expect(translated(`deep=${text}`)).toEqual([['deep', flag]])
    })

    it('names an enum value or gives its number', () => {
      expect(translated('kind=A')).toEqual([['kind', 'KIND_A']])
      expect(translated('kind=1')).toEqual([['kind', 'KIND_A']])
    })

    it.each([
      ['name=a&name=b', 'too many values for field "name": a, b'],
      ['updated_since=2025-01-02T03:04:05Z&updatedSince=2025-01-02T03:04:05Z', /^too many values for field "updated_since"/],
      ['deep=yes', 'parsing field "deep": strconv.ParseBool: parsing "yes": invalid syntax'],
      ['top=ten', 'parsing field "top": strconv.ParseInt: parsing "ten": invalid syntax'],
      ['top=', 'parsing field "top": strconv.ParseInt: parsing "": invalid syntax'],
      ['top=2147483648', 'parsing field "top": strconv.ParseInt: parsing "2147483648": value out of range'],
      ['kind=KIND_A', 'parsing field "kind": "KIND_A" is not a valid value'],
      ['updated_since=yesterday', 'parsing field "updated_since": "yesterday" is not an RFC 3339 time'],
    ])('%s is INVALID_ARGUMENT, in the words of the gateway', (search, message) => {
      expect(() => translated(search)).toThrow(message)
      expect(codeOf(() => translated(search))).toBe('INVALID_ARGUMENT')
    })
  })

  it('names a field of a filter message by its last part', () => {
    expect(() => v2Query(scope, queryOf('uidp.in_root=maybe'))).toThrow(
      'parsing field "in_root": strconv.ParseBool: parsing "maybe": invalid syntax',
    )
  })

  describe('a filter that v2 inverted', () => {
    const flipped: Params = { exclude_dates: negated('include_dates') }

    it.each([
      ['', 'true'],
      ['exclude_dates=true', 'false'],
      ['excludeDates=false', 'true'],
    ])('is always sent: %j → %s', (search, value) => {
      expect(v2Query(flipped, queryOf(search))).toEqual([['include_dates', value]])
    })
  })

  describe('the readers of single values and counts', () => {
    it('return undefined for an absent parameter; zero is unset', () => {
      expect(single(queryOf(''), 'id')).toBeUndefined()
      expect(count(queryOf('limit=0'), 'limit')).toBeUndefined()
      expect(count(queryOf('limit=7'), 'limit')).toBe(7)
    })

    it('refuse a negative number', () => {
      expect(() => count(queryOf('limit=-1'), 'limit')).toThrow('Invalid argument: limit: must be non-negative')
    })
  })

  function codeOf(act: () => unknown): unknown {
    try {
      act()
    } catch (error) {
      return error instanceof ApiError ? error.code : error
    }
    return undefined
  }
})

describe('a condition on a request', () => {
  const LIST = operationOf('registry.eol_tags.list')
  const UID = 'a'.repeat(40)

  const rows: readonly (readonly [condition: Condition, query: string, holds: boolean])[] = [
    [[], '', true],
    [[{ param: 'name' }], '', false],
    [[{ param: 'name' }], 'name=', true],
    [[{ param: 'name' }], 'colour=red', false],
    [[{ param: 'colour' }], 'colour=red', false],
    [[{ param: ['name', 'limit'] }], 'limit=1', true],
    [[{ param: 'name' }, { param: 'limit' }], 'limit=1', false],
    [[{ param: 'name' }, { param: 'limit' }], 'limit=1&name=a', true],
    [[{ param: 'page_size' }], 'pageSize=1', true],
    [[{ param: 'name', is: ['a', 'b'] }], 'name=b', true],
    [[{ param: 'name', is: ['a', 'b'] }], 'name=c', false],
    [[{ param: 'name', isNot: ['a', 'b'] }], 'name=c', true],
    [[{ param: 'name', isNot: ['a', 'b'] }], 'name=a', false],
    [[{ param: 'name', isNot: ['a', 'b'] }], '', false],
    [[{ param: 'uidp.ids', isNot: ['a'] }], 'uidp.ids=a&uidp.ids=b', true],
    [[{ param: 'limit', is: 'count' }], 'limit=0', true],
    [[{ param: 'limit', is: 'positive' }], 'limit=0', false],
    [[{ param: 'limit', is: 'positive' }], 'limit=2', true],
    [[{ param: 'limit', isNot: 'count' }], 'limit=0', false],
    [[{ param: 'limit', isNot: 'count' }], 'limit=-1', true],
    [[{ param: 'limit', isNot: 'count' }], 'limit=1.5', true],
    [[{ param: 'limit', isNot: 'count' }], 'limit=2147483648', true],
    [[{ param: 'limit', isNot: 'count' }], 'limit=1&limit=2', true],
    [[{ param: 'uidp.children_of', is: 'uid' }], `uidp.children_of=${UID}`, true],
    [[{ param: 'uidp.children_of', is: 'uid' }], 'uidp.children_of=nonsense', false],
  ]
  it.each(rows)('%j is tested of "%s": %s', (condition, query, holds) => {
    expect(compileCondition(condition)(asked(LIST, query))).toBe(holds)
  })

  it('reads the variables of the path', () => {
    const isNoUid = compileCondition([{ param: 'repo_id', isNot: 'uid' }])
    const get = (uid: string) => asked('registry.repo_tags_summary.get', 'repo_id=nonsense', { repo_id: uid })
    expect([isNoUid(get(UID)), isNoUid(get('nonsense'))]).toEqual([false, true])
    expect(paramsOf(operationOf('registry.repo_tags_summary.get'))).toContain('repo_id')
  })
})

describe('order_by (facts §21)', () => {
  const orderOf = (text: string) => readOrder(queryOf(`order_by=${encodeURIComponent(text)}`))

  it.each([
    ['id', 'uid'],
    ['uid desc', 'uid desc'],
    ['name', 'name'],
    ['name asc', 'name'],
    ['  name   DESC ', 'name desc'],
    ['created_at desc', 'created_at desc'],
    ['create_time desc', 'created_at desc'],
    ['updated_at', 'updated_at'],
    ['last_updated', 'updated_at'],
    ['update_time', 'updated_at'],
  ])('turns %j into %j', (v1, v2) => {
    expect(orderOf(v1)).toBe(v2)
  })

  it('may be spelled orderBy, be absent or be empty', () => {
    expect(readOrder(queryOf('orderBy=name'))).toBe('name')
    expect(readOrder(queryOf(''))).toBeUndefined()
    expect(orderOf(' ')).toBeUndefined()
  })

  it.each(['colour', 'createTime', 'updatedAt', 'name up', 'name desc desc', 'name,uid', 'constructor', '__proto__'])(
    'refuses %j by name',
    (text) => {
      expect(() => orderOf(text)).toThrow(/^Invalid argument: order_by: must be one of id, uid, name, created_at/)
    },
  )
})
