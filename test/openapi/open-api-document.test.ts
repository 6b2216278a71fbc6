import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { DIALECTS } from '../../src/tables/uid.ts'
import { operations } from '../properties/messages.ts'
import { documentOf, documentWith } from './documents.ts'

/** It reads its own schema of OpenAPI once. */
const validator = new Validator()

describe.each(DIALECTS)('the document of the %s dialect', (dialect) => {
  const document = documentOf(dialect)
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ route: `${method.toUpperCase()} ${path}`, operation })),
  )

  it('is OpenAPI 3.1', async () => {
    const { valid, errors } = await validator.validate(JSON.parse(JSON.stringify(document)))
    expect({ valid, errors }).toEqual({ valid: true })
  })

  it('has every operation of the tables once, at its route', () => {
    const anyName = (route: string) => route.replace(/\{[^}]*\}/g, '{}')
    const routes = new Map(described.map(({ route, operation }) => [operation.operationId, anyName(route)]))
    expect(routes).toEqual(new Map(operations.map(({ id, method, template }) => [id, anyName(`${method} ${template}`)])))
    expect(described).toHaveLength(operations.length)
  })

  it('has no path that differs from another in names of variables alone', () => {
    const shapes = Object.keys(document.paths).map((path) => path.replace(/\{[^}]*\}/g, '{}'))
    expect(shapes.filter((shape, at) => shapes.indexOf(shape) !== at)).toEqual([])
  })

  it('refers only to what is there', () => {
    const text = JSON.stringify(document)
    const missing = [...text.matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)].filter(
      ([, kind = '', name = '']) => document.components[kind]?.[name] === undefined,
    )
    expect(missing.map(([reference]) => reference)).toEqual([])
  })

  it('has the same bytes each time', () => {
    expect(JSON.stringify(documentWith({ dialect }))).toBe(JSON.stringify(document))
  })
})

describe('an operation of the document', () => {
  const { paths, components } = documentWith({
    operations: ['iam.groups.*', 'registry.eol_tags.list', 'registry.sbom.get', 'apko.*', 'ping.*'],
  })

  it('says how v2 serves it and what differs', () => {
    expect(paths['/registry/v1/eoltags']?.get).toMatchObject({
      operationId: 'registry.eol_tags.list',
      tags: ['registry'],
      deprecated: true,
      'x-crosswalk-kind': 'emulated',
      'x-crosswalk-because': expect.stringContaining('v2 says only whether a tag is deprecated'),
      'x-crosswalk-v2-calls': ['GET /registry/v2/tags'],
      'x-crosswalk-differences': expect.arrayContaining(['eol-approximated']),
    })
    expect(components['x-crosswalk-differences']).toMatchObject({ 'eol-approximated': { seen: expect.any(String) } })
    expect(components['x-crosswalk-differences']).not.toHaveProperty('sink-needs-https')
  })

  it('says what v1 takes and answers where v1 alone serves it', () => {
    expect(paths['/registry/v1/repos/{repo_id}/digests/{digest}/sbom']?.get).toMatchObject({
      'x-crosswalk-kind': 'v1-only',
      parameters: expect.arrayContaining([expect.objectContaining({ name: 'arch', in: 'query' })]),
      responses: {
        200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Sbom2' } } } },
        501: { $ref: '#/components/responses/NotServed' },
      },
    })
  })

  it('says what is not described', () => {
    expect(paths['/apko/v1/resolve/{repo_uidp}']?.post).toMatchObject({
      description: expect.stringContaining('not described here'),
      requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/V1OnlyRequest' } } } },
    })
    expect(components.schemas.V1OnlyAnswer).toEqual({ description: expect.stringContaining('do not describe it') })
  })

  it('has the name of a path variable that most operations give it', () => {
    expect(paths['/iam/v1/groups/{id}']?.post?.parameters).toEqual([
      {
        name: 'id',
        in: 'path',
        required: true,
        description: expect.stringMatching(/may contain slashes.*may be empty.*Errors call it parent\.$/),
        schema: { type: 'string', pattern: '^.+$' },
      },
    ])
  })

  it('says what a replacement keeps', () => {
    const of = (id: string) =>
      Object.values(documentOf('published').paths).flatMap(({ put }) => (put?.operationId === id ? [put.description] : []))
    expect(of('iam.roles.update')).toEqual(['v2 serves this operation. It replaces the whole: a member that the body omits is reset.'])
    expect(of('iam.identity_providers.update').join()).toMatch(/is reset, but for oidc\.clientSecret, oidc\.correlationRule\.$/)
  })

  it('needs a token unless neither service asks for one', () => {
    expect(paths['/ping/v1/ping']?.get).toMatchObject({ security: [] })
    expect(paths['/iam/v1/groups']?.get).not.toHaveProperty('security')
  })

  it('answers 404 for a list only if the operator says so', () => {
    expect(paths['/iam/v1/groups']?.get?.responses).not.toHaveProperty('404')
    const told = documentWith({ operations: ['iam.groups.list'], notFound: 'error' })
    expect(told.paths['/iam/v1/groups']?.get?.responses).toHaveProperty('404')
  })

  it('announces the end of v1 if the settings do', () => {
    const { paths, components } = documentWith({ operations: ['iam.groups.list'], sunset: 1_893_456_000, successor: 'https://h/v2' })
    expect(components.headers).toEqual({
      Sunset: expect.objectContaining({ example: 'Tue, 01 Jan 2030 00:00:00 GMT' }),
      Link: expect.objectContaining({ example: '<https://h/v2>; rel="successor-version"' }),
    })
    const headers = { Sunset: { $ref: '#/components/headers/Sunset' }, Link: { $ref: '#/components/headers/Link' } }
    expect(paths['/iam/v1/groups']?.get?.responses).toMatchObject({ 200: { headers } })
    expect(components.responses?.Invalid).toMatchObject({ headers })
  })
})
