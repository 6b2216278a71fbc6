import type { Dialect } from '../../tables/uid.ts'
import type { DescribedOperation } from '../described-operation.ts'
import type { JsonSchema } from '../schemas/json-schema.ts'
import type { SchemaComponents } from '../schemas/schema-components.ts'
import { descriptionOf, summaryOf } from './operation-text.ts'
import { parametersOf } from './parameters.ts'
import type { OperationPath } from './path-of.ts'
import { JSON_TYPE, type RefusalSettings, responseOf, responsesOf } from './responses.ts'

/** What the operations of one document have in common. */
export interface Shared extends RefusalSettings {
  readonly dialect: Dialect
  readonly schemas: SchemaComponents
  /** The headers of every answer, if v1's end is announced. */
  readonly headers: JsonSchema | undefined
  /** Returns the codes of an operation's differences. */
  readonly differencesOf: (operation: string) => readonly string[]
}

/** Returns the operation object of OpenAPI. Every v1 operation is deprecated: v2 succeeds v1. */
export function operationObject(operation: DescribedOperation, path: OperationPath, shared: Shared): JsonSchema {
  const { id, kind, calls, because, takesNoToken } = operation
  const { schemas, dialect, headers } = shared
  const parameters = parametersOf(operation, path, schemas.choice, dialect)
  const body = bodyOf(operation, schemas)
  const codes = shared.differencesOf(id)
  const success = responseOf('Success.', answerOf(operation, schemas), headers)
  return {
    operationId: id,
    tags: [domainOf(operation)],
    summary: summaryOf(operation),
    description: descriptionOf(operation, shared),
    deprecated: true,
    ...(takesNoToken && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: false, content: { [JSON_TYPE]: { schema: body } } } }),
    responses: responsesOf(operation, success, shared),
    'x-crosswalk-kind': kind,
    ...(because !== undefined && { 'x-crosswalk-because': because }),
    ...(calls.length > 0 && { 'x-crosswalk-v2-calls': calls }),
    ...(codes.length > 0 && { 'x-crosswalk-differences': codes }),
  }
}

/** The first word of an operation's id. */
export function domainOf({ id }: DescribedOperation): string {
  return id.split('.', 1)[0] ?? ''
}

function bodyOf(
  { kind, method, request, answer, bodyIs }: DescribedOperation,
  { request: schemaOf, add }: SchemaComponents,
): JsonSchema | undefined {
  if (request) return schemaOf(request, bodyIs)
  if (kind !== 'v1-only' || answer || method === 'GET' || method === 'DELETE') return undefined
  return add('V1OnlyRequest', {
    description: 'What the v1 service takes. The tables of Crosswalk do not describe it: it is passed on unchanged.',
  })
}

function answerOf(operation: DescribedOperation, { answer, add }: SchemaComponents): JsonSchema {
  if (operation.answer) return answer(operation)
  return add('V1OnlyAnswer', {
    description: 'What the v1 service answers. The tables of Crosswalk do not describe it: it is passed on unchanged.',
  })
}
