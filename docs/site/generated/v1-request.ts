import type { Operation } from '../../../src/tables/operation.ts'
import { curl } from '../../../src/tools/explain.ts'
import { inWords } from '../../../src/tools/explore.ts'
import { otherForms, plainRequest, sampleBody, v1Text } from '../../../src/tools/guide-request.ts'
import type { DescribedOperation } from '../../../src/tools/openapi.ts'

/** Returns the v1 request of an operation as a line for a shell, with the variables V1 and TOKEN. `shown` is the form that guides explain. */
export function v1Curl(operation: Operation, described: DescribedOperation, shown: string | undefined): string {
  const plain = plainRequest(operation)
  const asked = [plain, ...otherForms(operation, plain)].find((form) => v1Text(operation, form) === shown) ?? plain
  const body = operation.request ? asked.body : described.request && sampleBody(described.request.fields)
  const path = operation.template.replace(/\{([^{}=]+)(?:=\*\*)?\}/g, (_, name: string) => asked.params[name] ?? '')
  return curl('$V1', { method: operation.method, path, query: [], ...(body !== undefined && { body }) }, '-sS', inWords)
}
