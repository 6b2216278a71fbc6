import { asParam, ORDER_PARAMETER, type Param } from '../../tables/query.ts'
import type { Dialect } from '../../tables/uid.ts'
import type { DescribedOperation } from '../described-operation.ts'
import type { JsonSchema } from '../schemas/json-schema.ts'
import type { SchemaComponents } from '../schemas/schema-components.ts'
import { PARAMETER_TEXTS, WHOLE_NUMBERS } from './parameter-texts.ts'
import { type OperationPath, type PathVariable, spelled } from './path-of.ts'

/** A parameter object of OpenAPI. */
export interface Parameter extends JsonSchema {
  readonly name: string
  readonly in: 'path' | 'query'
}

/** Returns the parameters of an operation in the order of its path, its table and the window of its rows. */
export function parametersOf(
  operation: DescribedOperation,
  { variables }: OperationPath,
  choice: SchemaComponents['choice'],
  dialect: Dialect,
): readonly Parameter[] {
  const { params, ownParams, orders } = operation
  const query = (name: string, description: string | undefined, rest: JsonSchema): Parameter => ({
    name: spelled(name, dialect),
    in: 'query',
    ...(description !== undefined && { description }),
    ...rest,
  })
  return [
    ...variables.map((variable) => pathParameter(variable, operation)),
    ...Object.entries(params)
      .map(([name, row]) => [name, asParam(row)] as const)
      .filter(([, { neverTaken }]) => !neverTaken)
      .map(([name, param]) => query(name, textOf(name, param), schemaOf(param, choice))),
    ...ownParams.map((name) => {
      if (name === ORDER_PARAMETER && orders) return query(name, 'The order of the rows.', { schema: choice(orders) })
      const schema = WHOLE_NUMBERS.has(name) ? { type: 'integer', minimum: 0 } : { type: 'string' }
      return query(name, PARAMETER_TEXTS[name] ?? (name === operation.selects ? 'Only the row with this uid.' : undefined), { schema })
    }),
  ]
}

/** OpenAPI has no path variable with slashes: the description says how they are sent (facts §12.2). */
function pathParameter({ name, own, spansSlashes }: PathVariable, { root }: DescribedOperation): Parameter {
  const sentences = [
    ...(spansSlashes ? ['The value may contain slashes. A slash may be sent as it is or as %2F.'] : []),
    ...(root ? ['It may be empty: what is created then has no parent.'] : []),
    ...(own === name ? [] : [`Errors call it ${own}.`]),
  ]
  return {
    name,
    in: 'path',
    required: true,
    ...(sentences.length > 0 && { description: sentences.join(' ') }),
    schema: { type: 'string', pattern: spansSlashes ? '^.+$' : '^[^/]+$' },
  }
}

function schemaOf({ kind, of, many }: Param, choice: SchemaComponents['choice']): JsonSchema {
  const one = of ? choice(of) : SCALARS[kind]
  return many ? { style: 'form', explode: true, schema: { type: 'array', items: one } } : { schema: one }
}

const SCALARS: Readonly<Record<Param['kind'], JsonSchema>> = {
  text: { type: 'string' },
  flag: { type: 'boolean' },
  time: { type: 'string', format: 'date-time' },
  int: { type: 'integer', format: 'int32' },
  choice: { type: 'string' },
}

function textOf(name: string, { v1Only, zeroIsNone, of, many }: Param): string | undefined {
  const sentences = [
    ...(PARAMETER_TEXTS[name] === undefined ? [] : [PARAMETER_TEXTS[name]]),
    ...(many ? ['It may be repeated: any of the values matches.'] : []),
    ...(zeroIsNone && of ? [`${of.zero[0]} filters nothing.`] : []),
    ...(v1Only === undefined ? [] : [`Only a v1 service takes true: ${v1Only}.`]),
  ]
  return sentences.length > 0 ? sentences.join(' ') : undefined
}
