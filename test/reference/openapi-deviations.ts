import { type AnySchema, flat, type Schemas } from './flat-schema.ts'

interface Media {
  readonly content?: Readonly<Record<string, { readonly schema: AnySchema }>>
}

interface ContractParameter {
  readonly $ref?: string
  readonly name: string
  readonly in: string
  readonly schema: AnySchema
}

interface ContractOperation {
  readonly parameters?: readonly ContractParameter[]
  readonly requestBody?: Media
  readonly responses: Readonly<Record<string, Media>>
}

/** The parts of an OpenAPI document that are compared. */
export interface ContractDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ContractOperation>>>>
  readonly components: { readonly schemas: Schemas; readonly parameters?: Readonly<Record<string, ContractParameter>> }
}

/**
 * Returns a line for each place at which a document is not as a contract: `GET /iam/v1/groups ?name: missing`.
 */
export function deviationsOf(document: ContractDocument, contract: ContractDocument): readonly string[] {
  const own = operationsOf(document)
  const theirs = operationsOf(contract)
  return [
    ...[...theirs.keys()].filter((route) => !own.has(route)).map((route) => `${route}: missing`),
    ...[...own].flatMap(([route, operation]) => {
      const other = theirs.get(route)
      if (!other) return [`${route}: extra`]
      const [mine, published] = [partsOf(document, operation), partsOf(contract, other)]
      const places = [...new Set([...mine.keys(), ...published.keys()])]
      return places.flatMap((place) => lineOf(mine.get(place), published.get(place)).map((line) => `${route} ${place}: ${line}`))
    }),
  ]
}

function lineOf(mine: string | undefined, published: string | undefined): readonly string[] {
  if (mine === published) return []
  if (mine === undefined) return [`missing, ${published}`]
  return [published === undefined ? `extra, ${mine}` : `${mine}, not ${published}`]
}

function operationsOf({ paths }: ContractDocument): ReadonlyMap<string, ContractOperation> {
  const entries = Object.entries(paths).flatMap(([path, item]) => Object.entries(item).map(([method, one]) => ({ path, method, one })))
  return new Map(entries.map(({ path, method, one }) => [`${method.toUpperCase()} ${path}`, one]))
}

/** Every place of an operation with its type: `?name`, `{id}`, `takes .name`, `answers .items[].id`. */
function partsOf(
  { components }: ContractDocument,
  { parameters = [], requestBody, responses }: ContractOperation,
): ReadonlyMap<string, string> {
  const { schemas } = components
  const parts = new Map<string, string>()
  for (const parameter of parameters) {
    const { name, in: where, schema } = components.parameters?.[parameter.$ref?.split('/').at(-1) ?? ''] ?? parameter
    for (const [place, type] of flat(schemas, schema)) parts.set(`${where === 'path' ? `{${name}}` : `?${name}`}${place}`, type)
  }
  for (const [word, media] of [
    ['takes', requestBody],
    ['answers', responses['200']],
  ] as const) {
    const [body] = Object.values(media?.content ?? {})
    if (body) for (const [place, type] of flat(schemas, body.schema)) parts.set(`${word} ${place}`, type)
  }
  return parts
}
