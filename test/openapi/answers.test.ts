import { describe, expect, it } from 'vitest'
import { DIALECTS } from '../../src/tables/uid.ts'
import { answers } from '../mappings/answers.ts'
import { createUndescribed } from './described.ts'
import { documentWith } from './documents.ts'

const JSON_TYPE = 'application/json'

describe.each(DIALECTS)('answers in the %s dialect', async (dialect) => {
  // Some transcripts are of an operator who wants errors for what is missing.
  const undescribed = createUndescribed(documentWith({ dialect, notFound: 'error' }))

  it.each((await answers(dialect)).map((answered) => [`${answered.operation}: ${answered.title}`, answered] as const))(
    '%s: are as the document says',
    (_, { operation, status, reply }) => {
      expect(undescribed(operation, { request: { path: '/' }, answer: { status, type: JSON_TYPE, body: reply } })).toEqual([])
    },
  )
})

describe('an answer that the document does not describe', () => {
  const row = { id: 'aa/bb', sink: 'https://h', group_id: 'aa' }
  const list = (body: unknown, change: Partial<{ status: number; type: string }> = {}) => ({
    request: { path: '/events/v1/subscriptions' },
    answer: { status: 200, type: JSON_TYPE, body, ...change },
  })
  const { components, ...rest } = documentWith({ operations: ['events.subscriptions.*'] })

  /** Holds a list of one row against the document with another schema of the row. */
  const saidOf = (change: (properties: Record<string, unknown>) => Record<string, unknown>) => {
    const { Subscription: { properties, ...schema } = { properties: {} }, ...schemas } = components.schemas
    const changed = { ...schema, properties: change(properties as Record<string, unknown>), required: ['id'] }
    const document = { ...rest, components: { ...components, schemas: { ...schemas, Subscription: changed } } }
    return createUndescribed(document)('events.subscriptions.list', list({ items: [row] }))
  }

  it('is found by a member that the document lacks', () => {
    expect(saidOf((properties) => properties)).toEqual([])
    expect(saidOf(({ sink: _, ...others }) => others).join()).toContain('must NOT have additional properties {"additionalProperty":"sink"}')
  })

  it('is found by a member of another type', () => {
    expect(saidOf((properties) => ({ ...properties, sink: { type: 'integer' } })).join()).toContain('/items/0/sink must be integer')
  })

  it('is found by its status, its type and a member that it lacks', () => {
    const said = createUndescribed({ ...rest, components })
    const { sink: _, ...lacking } = row
    expect(said('events.subscriptions.list', list({}, { status: 418 }))).toEqual([expect.stringContaining('answers 418')])
    expect(said('events.subscriptions.list', list({}, { type: 'text/html' }))).toEqual([expect.stringContaining('type text/html')])
    expect(said('events.subscriptions.list', list({ items: [lacking] }))).toEqual([expect.stringContaining("required property 'sink'")])
    expect(said('events.subscriptions.read', list({}))).toEqual(['events.subscriptions.read is not in the document'])
  })

  it('is found by what its request held', () => {
    const said = createUndescribed({ ...rest, components })
    const sent = (path: string, text: string) => said('events.subscriptions.create', { request: { path, text }, answer: list(row).answer })
    expect(sent('/?x=1', '{"sink":1,"colour":null}')).toEqual([
      expect.stringContaining('takes the parameter x'),
      expect.stringContaining('/sink must be string'),
    ])
    expect(sent('/', '{"sink":"https://h","colour":"red"}')).toEqual([expect.stringContaining('"additionalProperty":"colour"')])
    expect(sent('/', '{"sink":"https://h","id":"ignored"}')).toEqual([])
  })
})
