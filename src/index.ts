/** Crosswalk in your program: `import { createCrosswalk } from 'crosswalk'`. docs/reference/library.md shows how. */

export type {
  AsyncFunction,
  ComparedFunction,
  CompareOptions,
  ComparisonGroup,
  ComparisonOptions,
  ComparisonSettings,
  FunctionVerdict,
  Mismatch,
} from './app/library/compare.ts'
export { compare, createComparison } from './app/library/compare.ts'
export type { Crosswalk, CrosswalkClocks, CrosswalkOptions, HostedSettings, Log, Settings } from './app/library/crosswalk.ts'
export { type CrosswalkPluginOptions, createCrosswalk, crosswalk } from './app/library/crosswalk.ts'
export type { WrittenModes } from './migrate/modes/rules.ts'
