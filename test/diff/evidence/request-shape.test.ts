import { describe, expect, it } from 'vitest'
import { classOf, shapeOf } from '../../../src/migrate/evidence/standing.ts'
import { createCursors } from '../../../src/migrate/observe/observe.ts'
import { child, operationOf, ROOT_UID } from '../given.ts'

const request = (query: Record<string, string[]> = {}, body?: unknown, params = {}) => ({
  params,
  query: new Map(Object.entries(query)),
  body,
})

describe('the shape of a request', () => {
  const list = operationOf('registry.tags.list')

  it('has its operation, the names of its parameters and the classes of their values', () => {
    const query = { 'uidp.children_of': [child(1)], exclude_dates: ['true'], name: ['secret-name'] }
    expect(shapeOf(list, request(query))).toBe('registry.tags.list?exclude_dates=flag&name=text&uidp.children_of=child')
    expect(shapeOf(list, request())).toBe('registry.tags.list')
  })

  it('is the same in both spellings and in any order', () => {
    const one = { 'uidp.children_of': [child(1)], page_size: ['10'] }
    const other = { pageSize: ['20'], 'uidp.childrenOf': [child(2)] }
    expect(shapeOf(list, request(one))).toBe(shapeOf(list, request(other)))
  })

  it('counts parameters that no table has, and never names them', () => {
    expect(shapeOf(list, request({ 'planted-secret': ['a'], other: ['b'] }))).toBe('registry.tags.list?(unknown)=2')
  })

  it('distinguishes repeated parameters', () => {
    expect(shapeOf(list, request({ 'uidp.ids': [child(1), child(2)] }))).toBe('registry.tags.list?uidp.ids=several')
  })

  it('has the members of a body and the variables of the path', () => {
    const update = operationOf('registry.repos.update')
    const body = { name: 'planted', customOverlay: {}, sync_config: null, bundles: [], aliases: ['x'], 'planted-key': 1 }
    expect(shapeOf(update, request({}, body, { id: child(1) }))).toBe(
      'registry.repos.update?.aliases=list&.bundles=none&.custom_overlay=object&.name=text&.sync_config=null&{id}=child',
    )
    expect(shapeOf(operationOf('iam.role_bindings.create_batch'), request({}, [1, 2]))).toContain('(body)=list')
  })
})

describe('the class of a value', () => {
  it.each([
    ['', 'empty'],
    ['true', 'flag'],
    ['F', 'flag'],
    ['0', 'zero'],
    ['-3', 'negative'],
    ['200', 'small'],
    ['201', 'large'],
    [ROOT_UID, 'root'],
    [child(1), 'child'],
    [`${child(1)}/${'0'.repeat(16)}`, 'deep'],
    [`sha256:${'a'.repeat(64)}`, 'digest'],
    ['2026-01-02T03:04:05Z', 'time'],
    ['name desc', 'descending'],
    ['anything', 'text'],
  ])('of %j is %s', (text, expected) => {
    expect(classOf(text)).toBe(expected)
  })
})

describe('cursors', () => {
  it('belong to the other side, for this caller and operation only', () => {
    const cursors = createCursors()
    cursors.learn('a', 'x', 'v1-token', 'v2-token')
    expect(cursors.find('a', 'x', 'v1-token')).toBe('v2-token')
    expect(cursors.find('b', 'x', 'v1-token')).toBeUndefined()
    expect(cursors.find('a', 'y', 'v1-token')).toBeUndefined()
  })

  it('are bounded, and the oldest are dropped first', () => {
    const cursors = createCursors(2)
    for (const token of ['1', '2', '1', '3']) cursors.learn('a', 'x', token, token)
    expect(['1', '2', '3'].map((token) => cursors.find('a', 'x', token))).toEqual(['1', undefined, '3'])
  })
})
