import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { expect, test } from 'vitest'
import { answers } from '../mappings/answers.ts'
import { operations } from '../properties/messages.ts'
import { type OpenApi, routesOf, shape } from './contracts.ts'
import { read } from './documents.ts'

type Schema = Readonly<Record<string, unknown>>

const CONTRACT = 'v1'

test('published answers are what the v1 contract says, without a member more', async (context) => {
  const contract = read<OpenApi>(context, 'openapi-v1.json')
  const ajv = new Ajv({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema({ components: closed(contract.components) as Schema }, CONTRACT)
  const routes = routesOf(contract)
  const validators = new Map(
    operations.map(({ id, method, template }) => {
      const answer = routes.get(shape(`${method} ${template}`))?.responses['200']?.content?.['application/json']?.schema
      return [id, answer ? ajv.compile(closed(answer) as Schema) : undefined]
    }),
  )
  const refused = ajv.compile({ $ref: `${CONTRACT}#/components/schemas/google.rpc.Status` })
  let checked = 0
  const wrong: string[] = []
  for (const { operation, title, status, reply } of await answers('published')) {
    const validate = status === 200 ? validators.get(operation) : refused
    if (!validate) continue
    checked += 1
    if (!validate(reply)) wrong.push(`${operation}: ${title}: ${ajv.errorsText(validate.errors)}`)
  }
  for (const line of wrong) console.log(line)
  console.log(`${checked} published answers, ${wrong.length} not as the contract says`)
  expect(wrong).toEqual([])
  expect(checked).toBeGreaterThan(0)
})

/**
 * The schemas without the looseness of OpenAPI: an object has the members that it lists and no other. Messages and times may be null,
 * which the contract cannot say and v1 does (facts §16.3).
 */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const parts = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (keyword === '$ref') return [keyword, `${CONTRACT}${value}`]
    return [keyword, keyword === 'properties' ? nullable(value as Record<string, Schema>) : closed(value)]
  })
  const strict = { ...(schema as Schema), ...Object.fromEntries(parts) }
  const isMessage = strict['type'] === 'object' && !('additionalProperties' in strict)
  return isMessage ? { ...strict, additionalProperties: false } : strict
}

function nullable(properties: Readonly<Record<string, Schema>>): Schema {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const mayBeNull = '$ref' in schema || 'allOf' in schema || schema['format'] === 'date-time'
      return [name, mayBeNull ? { anyOf: [closed(schema), { type: 'null' }] } : closed(schema)]
    }),
  )
}
