import type { Mapping } from '../src/tables/language.ts'
import { eolTagOperations } from './registry/eol-tags.ts'
import { imageOperations } from './registry/images.ts'
import { repoOperations } from './registry/repos.ts'
import { summaryOperations } from './registry/summaries.ts'
import { tagOperations } from './registry/tags.ts'
import { v1OnlyOperations } from './registry/v1-only.ts'

export const registry: Mapping = {
  domain: 'registry',
  operations: [...repoOperations, ...tagOperations, ...imageOperations, ...eolTagOperations, ...summaryOperations, ...v1OnlyOperations],
}
