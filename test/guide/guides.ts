import { differences } from '../../mappings/differences.ts'
import { mappings } from '../../mappings/index.ts'
import { topics } from '../../mappings/topics.ts'
import { readFacts } from '../../src/grpc/facts.ts'
import type { Guide } from '../../src/guide/guide-schema.ts'
import type { SectionContext } from '../../src/guide/guide-section.ts'
import { operationGuide } from '../../src/guide/make-guide.ts'
import { createMethodNames } from '../../src/guide/method-names.ts'
import type { Operation } from '../../src/tables/operation.ts'
import type { Dialect } from '../../src/tables/uid.ts'

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
