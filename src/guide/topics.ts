import type { Operation } from '../tables/operation.ts'
import type { GuideTopic } from '../tables/tables.ts'
import type { Topic } from './guide-schema.ts'

/** Returns the topics of the tables that concern one of these operations. */
export function topicsFor(topics: readonly GuideTopic[], operations: readonly Operation[]): readonly Topic[] {
  return topics.filter(({ concerns }) => !concerns || operations.some(concerns)).map(({ title, v1, v2 }) => ({ title, v1, v2 }))
}
