import { describe, expect, it } from 'vitest'
import { readOrder } from '../../../src/tables/query.ts'
import { queryOf } from '../query-of.ts'

const orderOf = (text: string) => readOrder(queryOf(`order_by=${encodeURIComponent(text)}`))

describe('order_by (facts §21)', () => {
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
