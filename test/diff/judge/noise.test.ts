import { describe, expect, it } from 'vitest'
import { createNoise } from '../../../src/migrate/compare/judge.ts'
import { asked, child, court, findings, seen } from '../given.ts'

const ID = 'iam.identities.list'
const row = (members: object, nth = 1) => ({ id: child(nth), name: 'a', last_seen: '2026-01-01T00:00:00Z', updated_at: null, ...members })
const list = (...rows: object[]) => ({ items: rows })
const later = (second: number) => ({ last_seen: `2026-01-01T00:00:0${second}Z` })
const busy = () => findings(ID, list(row(later(1))), list(row(later(2))))

describe('a member that v1 changes by itself', () => {
  it('is noise once it has changed often enough', () => {
    const noise = createNoise({ changes: 3, share: 0.1 })
    const [found] = busy()
    for (let ask = 0; ask < 2; ask++) noise.learn(ID, busy())
    expect(found && noise.isNoise(ID, found)).toBe(false)
    noise.learn(ID, busy())
    expect(found && noise.isNoise(ID, found)).toBe(true)
    expect(noise.members()).toEqual([{ operation: ID, where: '/items/*/last_seen', kind: 'value', changes: 3, asks: 3 }])
  })

  it('is noise in value only: type and presence still count', () => {
    const { noise, judge } = court()
    for (let ask = 0; ask < 3; ask++) noise.learn(ID, busy())
    const against = (members: object | undefined) => judge(asked(ID), seen(list(row({}))), seen(list(row(members ?? {})))).outcome
    expect(against(later(9))).toBe('noise')
    expect(against({ last_seen: null })).toBe('mismatch')
    expect(against({ last_seen: undefined })).toBe('mismatch')
    expect(against({ ...later(9), name: 'b' })).toBe('mismatch')
    expect(judge(asked('iam.groups.list'), seen(list(row({}))), seen(list(row(later(9))))).outcome).toBe('mismatch')
  })

  it('is not noise if the row was written meanwhile', () => {
    const noise = createNoise({ changes: 1, share: 0 })
    const written = { name: 'b', updated_at: '2026-01-01T00:00:05Z' }
    noise.learn(ID, findings(ID, list(row({ updated_at: '2026-01-01T00:00:01Z' })), list(row(written))))
    expect(noise.members()).toEqual([])
    noise.learn(ID, findings(ID, list(row({}), row({}, 2)), list(row({ ...written, updated_at: null }), row(later(3), 2))))
    expect(noise.members().map(({ where }) => where)).toEqual(['/items/*/name', '/items/*/last_seen'])
  })

  it('is not noise in an object that does not show whether it was written', () => {
    const noise = createNoise()
    const bindings = 'iam.role_bindings.list'
    const held = (description: string) => ({ items: [{ id: child(1), created_at: null, role: { id: child(2), description } }] })
    for (let ask = 0; ask < 50; ask++) noise.learn(bindings, ask % 2 === 0 ? findings(bindings, held('there'), held('back')) : [])
    for (let ask = 0; ask < 3; ask++)
      noise.learn('libraries.artifacts.count', findings('libraries.artifacts.count', { count: '1' }, { count: '2' }))
    expect(noise.members()).toEqual([])
    for (let ask = 0; ask < 50; ask++) noise.learn(bindings, findings(bindings, held('there'), held('back')))
    expect(noise.members().map(({ where }) => where)).toEqual(['/items/*/role/description'])
  })

  it('is not the order of rows of which one was renamed', () => {
    const noise = createNoise({ changes: 1, share: 0 })
    const stamp = { updated_at: '2026-01-01T00:00:05Z' }
    noise.learn(ID, findings(ID, list(row({}), row({}, 2)), list(row({}, 2), row({ name: 'z', ...stamp }))))
    expect(noise.members()).toEqual([])
  })

  it('is not noise if it changes seldom, and no longer once it is stable again', () => {
    const noise = createNoise({ changes: 3, share: 0.1 })
    for (let ask = 0; ask < 3; ask++) noise.learn(ID, busy())
    for (let ask = 0; ask < 27; ask++) noise.learn(ID, [])
    expect(noise.members()).toHaveLength(1)
    noise.learn(ID, [])
    expect(noise.members()).toEqual([])
  })

  it('counts once for each double read, however many rows show it', () => {
    const noise = createNoise({ changes: 2, share: 0 })
    noise.learn(ID, findings(ID, list(row(later(1)), row(later(1), 2)), list(row(later(2)), row(later(2), 2))))
    expect(noise.members()).toEqual([])
  })

  it('may be the order of a list', () => {
    const { noise, judge } = court()
    const [there, back] = [list(row({}), row({}, 2)), list(row({}, 2), row({}))]
    for (let ask = 0; ask < 3; ask++) noise.learn(ID, findings(ID, there, back))
    expect(judge(asked(ID), seen(there), seen(back)).outcome).toBe('noise')
  })

  it('is unlearned in the long run if it stays stable', () => {
    const noise = createNoise({ changes: 3, share: 0 })
    for (let ask = 0; ask < 3; ask++) noise.learn(ID, busy())
    for (let ask = 0; ask < 1000; ask++) noise.learn(ID, [])
    expect(noise.members()).toEqual([])
  })
})
