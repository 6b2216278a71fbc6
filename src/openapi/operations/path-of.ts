import { camelCase, type Dialect } from '../../tables/uid.ts'
import type { DescribedOperation } from '../described-operation.ts'

/** A variable of a path: its name in the document and in the tables, and whether its value may hold slashes. */
export interface PathVariable {
  readonly name: string
  readonly own: string
  readonly spansSlashes: boolean
}

/** The place of an operation in a document. */
export interface OperationPath {
  /** `/iam/v1/groups/{id}:requestGroupAccess` */
  readonly path: string
  readonly variables: readonly PathVariable[]
}

const VARIABLE = /\{([^{}=]+)(=\*\*)?\}/g

/**
 * Returns the path of each operation. OpenAPI takes paths that differ in the names of their variables alone for one path. A variable there
 * has the name that most of its operations give it, and of equally frequent names the first in the alphabet (facts §1).
 */
export function pathsOf(operations: readonly DescribedOperation[], dialect: Dialect): ReadonlyMap<DescribedOperation, OperationPath> {
  const names = commonNames(operations)
  return new Map(
    operations.map((operation) => {
      const common = names.get(shapeOf(operation)) ?? []
      const variables = variablesIn(operation).map(({ own, spansSlashes }, at) => ({
        name: spelled(common[at] ?? own, dialect),
        own: spelled(own, dialect),
        spansSlashes,
      }))
      let at = 0
      const path = operation.template.replace(VARIABLE, () => `{${variables[at++]?.name}}`)
      return [operation, { path, variables }]
    }),
  )
}

/** The spelling of a name in parameters. */
export function spelled(name: string, dialect: Dialect): string {
  return dialect === 'published' ? camelCase(name) : name
}

function variablesIn({ template }: DescribedOperation) {
  return [...template.matchAll(VARIABLE)].map(([, own = '', stars]) => ({ own, spansSlashes: stars !== undefined }))
}

function shapeOf({ template }: DescribedOperation): string {
  return template.replace(VARIABLE, '{}')
}

function commonNames(operations: readonly DescribedOperation[]): ReadonlyMap<string, readonly string[]> {
  const alike = new Map<string, (readonly string[])[]>()
  for (const operation of operations) {
    const shape = shapeOf(operation)
    alike.set(shape, [...(alike.get(shape) ?? []), variablesIn(operation).map(({ own }) => own)])
  }
  return new Map([...alike].map(([shape, rows]) => [shape, (rows[0] ?? []).map((_, at) => mostFrequent(rows.map((row) => row[at] ?? '')))]))
}

function mostFrequent(names: readonly string[]): string {
  const times = (name: string) => names.filter((other) => other === name).length
  return [...names].sort((a, b) => times(b) - times(a) || (a < b ? -1 : 1))[0] ?? ''
}
