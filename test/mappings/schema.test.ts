import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { answerSchema, type JsonSchema } from '../../src/tables/compile/schema.ts'
import { flag, int, object, optional, text, textMap, time } from '../../src/tables/language/field.ts'
import { DIALECTS } from '../../src/tables/language/names.ts'
import { message, resource } from '../../src/tables/language/resource.ts'
import { action } from '../../src/tables/operations/action.ts'
import { list } from '../../src/tables/operations/operations.ts'
import { operations } from '../properties/messages.ts'
import { answers } from './answers.ts'

/** An error, identical for every operation (facts §15). */
const STATUS: JsonSchema = {
  type: 'object',
  properties: { code: { type: 'integer' }, message: { type: 'string' }, details: { type: 'array' } },
  required: ['code', 'message', 'details'],
  additionalProperties: false,
}

const ajv = new Ajv({ strict: true, allErrors: true })
addFormats.default(ajv)

describe.each(DIALECTS)('answers in the %s dialect', async (dialect) => {
  const validators = new Map(operations.map((operation) => [operation.id, ajv.compile(answerSchema(operation, dialect))]))
  const refused = ajv.compile(STATUS)

  it.each((await answers(dialect)).map((answered) => [`${answered.operation}: ${answered.title}`, answered] as const))(
    '%s: match their tables exactly',
    (_, { operation, status, reply }) => {
      const validate = status === 200 ? validators.get(operation) : refused
      validate?.(reply)
      expect(validate?.errors ?? []).toEqual([])
    },
  )
})

describe('the schema of an answer', () => {
  const thing = resource('thing', {
    v2: '/x/v2/things',
    plural: 'things',
    stamps: ['created_at'],
    fields: {
      first_name: text('name'),
      size: optional(int('size')),
      labels: textMap('labels'),
      part: object('part', { made: time('made'), ok: flag('ok') }),
    },
  })
  const complete = { firstName: '', labels: { any_key: 'x' }, part: { made: null, ok: true } }
  const valid = (schema: JsonSchema, value: unknown) => ajv.validate(schema, value)

  it('requires members shown when unset, allows the others, and no more', () => {
    const schema = answerSchema(action('x.things.get', 'GET /x/v1/thing', { v2: 'GET /x/v2/thing', answer: thing }), 'published')
    expect(valid(schema, complete)).toBe(true)
    expect(valid(schema, { ...complete, size: 7, part: null })).toBe(true)
    expect(valid(schema, { ...complete, first_name: '' })).toBe(false)
    expect(valid(schema, { ...complete, size: null })).toBe(false)
    expect(valid(schema, { ...complete, part: { made: 'today', ok: true } })).toBe(false)
    expect(valid(schema, { firstName: '', labels: {} })).toBe(false)
    expect(valid(schema, { ...complete, labels: { a: 1 } })).toBe(false)
  })

  it('has the rows of a list and the members beside them, in the dialect’s names', () => {
    const envelope = message('things', { next_page_token: text('nextPageToken') })
    const listed = list('x.things.list', 'GET /x/v1/things', thing, { envelope })
    expect(valid(answerSchema(listed, 'published'), { items: [complete], nextPageToken: '' })).toBe(true)
    expect(valid(answerSchema(listed, 'published'), { items: [complete] })).toBe(false)
    const row = { first_name: '', labels: {}, part: null, created_at: null }
    expect(valid(answerSchema(listed, 'specification'), { items: [row], next_page_token: '' })).toBe(true)
    expect(valid(answerSchema(listed, 'specification'), { items: [row], nextPageToken: '' })).toBe(false)
  })
})
