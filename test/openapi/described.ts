import type { OpenApiDocument } from '../../src/tools/openapi.ts'
import { canonical, plain } from './canonical.ts'
import { createCheck } from './validators.ts'

/** A v1 request and its answer. */
export interface V1Exchange {
  readonly request: { readonly path: string; readonly text?: string }
  readonly answer: { readonly status: number; readonly type: string | null; readonly body: unknown }
}

/** Returns what a document says otherwise of an exchange of this operation, in sentences. */
export type Undescribed = (operation: string, exchange: V1Exchange) => readonly string[]

interface Described {
  readonly parameters?: readonly { readonly $ref?: string; readonly name?: string; readonly in?: string }[]
  readonly requestBody?: { readonly content: { readonly [JSON_TYPE]: { readonly schema: object } } }
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>
}

const JSON_TYPE = 'application/json'
const SCHEMA = 'content/application~1json/schema'

/** Holds exchanges against a document: every answer, and the parameters and the body of every request that is answered 200. */
export function createUndescribed(document: OpenApiDocument): Undescribed {
  const check = createCheck(document)
  const operations = operationsOf(document)
  return (id, { request, answer }) => {
    const found = operations.get(id)
    if (!found) return [`${id} is not in the document`]
    const { at, described } = found
    const refused = answer.status === 200 ? wrongRequest(described, at, request) : []
    return [...wrongAnswer(described, at, answer), ...refused].map((wrong) => `${id} ${wrong}, which the document does not say`)
  }

  function wrongAnswer({ responses }: Described, at: string, { status, type, body }: V1Exchange['answer']): readonly string[] {
    const response = responses[status]
    if (!response) return [`answers ${status}`]
    if (type?.split(';', 1)[0] !== JSON_TYPE) return [`answers the type ${type}`]
    return check(`${response.$ref?.slice(1) ?? `${at}/responses/${status}`}/${SCHEMA}`, body).map((wrong) => `answers ${status}: ${wrong}`)
  }

  function wrongRequest({ parameters = [], requestBody }: Described, at: string, { path, text }: V1Exchange['request']): readonly string[] {
    const names = new Set(parameters.map((one) => plain(nameOf(document, one))))
    const given = [...new URL(path, 'http://v1').searchParams.keys()].filter((name) => !names.has(plain(name)))
    const unknown = given.map((name) => `takes the parameter ${name}`)
    if (!requestBody || text === undefined || text === '') return unknown
    const body = canonical(document, requestBody.content[JSON_TYPE].schema, JSON.parse(text))
    return [...unknown, ...check(`${at}/requestBody/${SCHEMA}`, body).map((wrong) => `takes a body: ${wrong}`)]
  }
}

function nameOf({ components }: OpenApiDocument, { $ref, name }: { readonly $ref?: string; readonly name?: string }): string {
  return name ?? String(components.parameters?.[$ref?.split('/').at(-1) ?? '']?.name)
}

function operationsOf({ paths }: OpenApiDocument): ReadonlyMap<string, { readonly at: string; readonly described: Described }> {
  return new Map(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => {
        const at = `/paths/${encodeURIComponent(path.replaceAll('/', '~1'))}/${method}`
        return [String(operation.operationId), { at, described: operation as unknown as Described }] as const
      }),
    ),
  )
}
