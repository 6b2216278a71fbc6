import type { Operation } from '../operation.ts'
import { eolTagOperation } from './eol-tags.ts'
import { imageOperations } from './images.ts'
import { repoOperations } from './repos.ts'
import { summaryOperations } from './summaries.ts'
import { tagOperations } from './tags.ts'

/** What v1 serves below `/registry/v1` of the operations that have a v2 counterpart (facts §4). */
export const registryOperations: readonly Operation[] = [
  ...repoOperations,
  ...tagOperations,
  ...imageOperations,
  ...summaryOperations,
  eolTagOperation,
]
