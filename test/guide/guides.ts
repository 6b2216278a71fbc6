import { differences } from '../../mappings/differences.ts'
import { mappings } from '../../mappings/index.ts'
import { topics } from '../../mappings/topics.ts'
import { readFacts } from '../../src/grpc/facts.ts'
import type { Operation } from '../../src/tables/operation.ts'
import type { Dialect } from '../../src/tables/uid.ts'
import { operationGuide, type SectionContext } from '../../src/tools/guide.ts'
import { createMethodNames, type Guide } from '../../src/tools/guide-request.ts'

const methods = createMethodNames(readFacts())

export const operations = mappings.flatMap((mapping) => mapping.operations)

export function contextOf(dialect: Dialect, base = 'https://v2.example.com'): SectionContext {
  return {
    mappings,
    differences,
    topics,
    methods,
    base,
    env: { dialect, maskCase: 'snake', replaceMask: '*', notFound: 'empty', readmes: true },
  }
}

export function guideOf(operation: Operation, dialect: Dialect): Guide {
  return operationGuide([operation], operation.id, contextOf(dialect))
}
