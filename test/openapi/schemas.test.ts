import { describe, expect, it } from 'vitest'
import { v1OnlyShapes } from '../../mappings/v1-only-shapes.ts'
import { flag, int, long, object, oneof, optional, readOnly, text, textMap, time, uint, writeOnly } from '../../src/tables/fields.ts'
import type { Operation } from '../../src/tables/operation.ts'
import { action, create, list } from '../../src/tables/operations.ts'
import { message, resource } from '../../src/tables/resource.ts'
import { openApiDocument } from '../../src/tools/openapi.ts'
import { operations } from '../properties/messages.ts'
import { documentWith } from './documents.ts'

const thing = resource('large thing', {
  v2: '/x/v2/things',
  plural: 'things',
  stamps: ['created_at'],
  fields: {
    id: readOnly('uid'),
    first_name: text('name'),
    size: optional(int('size')),
    port: uint('port'),
    count: long('count'),
    labels: textMap('labels'),
    part: object('part', { made_at: time('made'), ok: flag('ok') }),
    secret: writeOnly(text('secret')),
    by_name: oneof('by', text('byName')),
    by_size: oneof('by', int('bySize')),
  },
})

const schemasOf = (dialect: 'specification' | 'published', ...own: readonly Operation[]) => {
  const settings = { deprecation: undefined, sunset: undefined, successor: undefined, notFound: 'empty', operations: [] } as const
  const tables = { name: 'own', mappings: [{ domain: 'x', operations: own }], shapes: {}, differences: [] }
  return openApiDocument(tables, { ...settings, dialect, server: 'http://h' }).components.schemas
}

describe('the shapes of operations that v1 alone serves', () => {
  const v1Only = operations.filter(({ kind }) => kind === 'v1-only').map(({ id }) => id)

  it('name only such operations', () => {
    expect(Object.keys(v1OnlyShapes).filter((id) => !v1Only.includes(id))).toEqual([])
  })

  it('name all of a domain with a published contract', () => {
    const published = v1Only.filter((id) => /^(registry|vulnerabilities|libraries|auth)\./.test(id))
    expect(published.filter((id) => !(id in v1OnlyShapes))).toEqual([])
  })
})

describe('the schemas of a resource', () => {
  const read = list('x.things.list', 'GET /x/v1/things', thing, { envelope: message('things', { next_page_token: text('nextPageToken') }) })
  const written = create('x.things.create', 'POST /x/v1/things/{parent_id=**}', thing)

  it('require in an answer what v1 always shows, null for what is unset', () => {
    const { LargeThing, LargeThingPart } = schemasOf('published', read)
    expect(LargeThing).toMatchObject({
      properties: {
        firstName: { type: 'string' },
        size: { type: 'integer', format: 'int32' },
        port: { type: 'integer', format: 'int64', minimum: 0, maximum: 4_294_967_295 },
        count: { type: 'string', format: 'int64' },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        part: { anyOf: [{ $ref: '#/components/schemas/LargeThingPart' }, { type: 'null' }] },
      },
      required: ['id', 'firstName', 'port', 'count', 'labels', 'part'],
    })
    expect(LargeThing?.properties).not.toHaveProperty('secret')
    expect(LargeThingPart).toMatchObject({
      properties: { madeAt: { type: ['string', 'null'], format: 'date-time' } },
      required: ['madeAt', 'ok'],
    })
  })

  it('have the members and the spelling of the dialect', () => {
    const { LargeThing, LargeThingList } = schemasOf('specification', read)
    expect(LargeThing?.required).toEqual(['id', 'first_name', 'port', 'count', 'labels', 'part', 'created_at'])
    expect(LargeThingList).toMatchObject({
      properties: { items: { type: 'array', items: { $ref: '#/components/schemas/LargeThing' } }, next_page_token: { type: 'string' } },
      required: ['items', 'next_page_token'],
    })
    expect(schemasOf('published', read).LargeThingList?.required).toEqual(['items', 'nextPageToken'])
  })

  it('require nothing in a request, and mark what v1 alone writes', () => {
    const { LargeThingRequest, LargeThingRequestPart } = schemasOf('specification', written)
    expect(LargeThingRequest).toMatchObject({
      properties: { id: { readOnly: true }, secret: { type: 'string' }, part: { $ref: '#/components/schemas/LargeThingRequestPart' } },
    })
    expect(LargeThingRequest).not.toHaveProperty('required')
    expect(LargeThingRequestPart).not.toHaveProperty('required')
  })

  it('allow one member of a oneof at most', () => {
    const { LargeThing } = schemasOf('published', read)
    expect(LargeThing?.description).toBe('At most one of byName, bySize is present.')
    expect(LargeThing?.dependentSchemas).toEqual({ byName: { properties: { bySize: false } } })
  })

  it('have names of their own', () => {
    const other = action('x.things.other', 'GET /x/v1/other', {
      v2: 'GET /x/v2/other',
      answer: message('large thing', { other: flag('o') }),
    })
    expect(() => schemasOf('published', read, other)).toThrow('two schemas have the name LargeThing; rename one message')
  })

  it('of a batch are those of the list that is the body', () => {
    const { paths } = documentWith({ operations: ['iam.role_bindings.create_batch'] })
    expect(paths['/iam/v1/rolebindings/batch/{parent}']?.post?.requestBody).toMatchObject({
      content: {
        'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/RoleBindingBatchRequestRoleBindings' } } },
      },
    })
  })
})
