import { expect, it } from 'vitest'
import { mappings } from '../../../mappings/index.ts'
import { v1OnlyShapes } from '../../../mappings/v1-only-shapes.ts'
import { checkFacts } from '../../../src/grpc/check.ts'
import { readFacts } from '../../../src/grpc/facts.ts'
import { broken, WRONG_FACTS } from './wrong-facts.ts'

it('finds tables and facts in agreement', () => {
  expect(() => checkFacts(readFacts(), mappings, v1OnlyShapes)).not.toThrow()
})

it.each(WRONG_FACTS)('names %s', (_, change, sentence) => {
  expect(() => checkFacts(broken(change), mappings, v1OnlyShapes)).toThrow(
    new Error(`mappings/grpc/${sentence.replaceAll('~', 'chainguard.platform.iam.')}`),
  )
})
