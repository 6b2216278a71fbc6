import type { Mapping } from '../src/tables/language.ts'
import { artifactOperations } from './libraries/artifacts.ts'
import { v1OnlyOperations } from './libraries/v1-only.ts'

export const libraries: Mapping = { domain: 'libraries', operations: [...artifactOperations, ...v1OnlyOperations] }
