import { describe, expect, it } from 'vitest'
import { differences } from '../../mappings/differences.ts'
import { answerForm, ERROR_FORM, formAt, segmentsOf } from '../../src/migrate/compare/compare.ts'
import { covers } from '../../src/tables/operation.ts'
import { paramsOf } from '../../src/tables/query.ts'
import { asked, court, operations, seen } from './given.ts'

const signed = differences.flatMap(({ code, operations: patterns, signs = [] }) =>
  signs.flatMap(({ at, kinds }) => at.map((place) => ({ code, patterns, place, kinds }))),
)

describe('the signs of declared differences', () => {
  it.each(signed)('$code at "$place" names a place that an answer can have', ({ patterns, place, kinds }) => {
    if (place === '') return expect(kinds).toEqual(['status'])
    const covered = operations.filter(({ id }) => patterns.some((pattern) => covers(pattern, id)))
    const forms = [ERROR_FORM, ...covered.map((operation) => answerForm(operation, 'specification'))]
    return expect(forms.some((form) => formAt(form, segmentsOf(place)) !== undefined)).toBe(true)
  })

  const conditions = differences.flatMap(({ code, operations: patterns, signs = [] }) =>
    signs.flatMap(({ when = [] }) => when.flatMap(({ param }) => [param].flat().map((name) => ({ code, patterns, name })))),
  )
  it.each(conditions)('$code names the parameter $name of each of its operations', ({ patterns, name }) => {
    const covered = operations.filter(({ id }) => patterns.some((pattern) => covers(pattern, id)))
    expect(covered.filter((operation) => !paramsOf(operation).includes(name)).map(({ id }) => id)).toEqual([])
  })

  it('explain the details of an error, and nothing else about it', () => {
    const { judge } = court(differences)
    const list = operations.find(({ id }) => id === 'registry.repos.list')!
    const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo' }
    const error = (details: unknown[], message = 'no') => seen({ code: 3, message, details }, 400)
    expect(judge(asked(list), error([]), error([info]))).toMatchObject({
      outcome: 'expected',
      findings: [{ code: 'error-details' }],
    })
    expect(judge(asked(list), error([{ '@type': 'y' }]), error([info])).outcome).toBe('mismatch')
    expect(judge(asked(list), error([]), error([], 'yes')).outcome).toBe('mismatch')
  })

  it('leave most of an approximated answer to be compared', () => {
    const { judge } = court(differences)
    const list = operations.find(({ id }) => id === 'registry.eol_tags.list')!
    const tag = { id: 'a', name: 'n', main_package_name: 'p', tag_status: 'TAG_IN_GRACE', grace_period_expiry_date: '2026-01-01T00:00:00Z' }
    const shown = { ...tag, main_package_name: '', grace_period_expiry_date: null }
    const answer = (...items: object[]) => seen({ items, next_page_token: '' })
    expect(judge(asked(list), answer(tag), answer(shown)).outcome).toBe('expected')
    expect(judge(asked(list), answer(tag), answer({ ...shown, name: 'other' })).outcome).toBe('mismatch')
    // The status needs a proof: v1's own `deprecated` of the tag.
    expect(judge(asked(list), answer(tag), answer({ ...shown, tag_status: 'TAG_ACTIVE' })).outcome).toBe('mismatch')
    expect(judge(asked(list), answer(tag), answer({ ...shown, main_package_name: 'q' })).outcome).toBe('mismatch')
    expect(judge(asked(list), answer(tag, { ...tag, id: 'b' }), answer(shown)).outcome).toBe('mismatch')
  })
})
