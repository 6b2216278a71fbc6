import type { Mapping } from '../src/tables/language.ts'
import { emulatedOperations } from './registry/emulated.ts'
import { eolTagOperations } from './registry/eol-tags.ts'
import { imageOperations } from './registry/images.ts'
import { repoOperations } from './registry/repos.ts'
import { tagOperations } from './registry/tags.ts'
import { v1OnlyOperations } from './registry/v1-only.ts'

export const registry: Mapping = {
  domain: 'registry',
  operations: [...repoOperations, ...tagOperations, ...imageOperations, ...eolTagOperations, ...emulatedOperations, ...v1OnlyOperations],
}
