import { describe, expect, it } from 'vitest'
import { type Condition, compileCondition, paramsOf } from '../../../src/tables/query.ts'
import { asked, operationOf } from '../../diff/given.ts'

const LIST = operationOf('registry.eol_tags.list')
const UID = 'a'.repeat(40)

describe('a condition on a request', () => {
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
