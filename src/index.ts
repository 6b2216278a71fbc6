/** Crosswalk in a program of yours: `import { createCrosswalk } from 'crosswalk'`. docs/library.md shows how. */

export { compare } from './compare/compare-functions.ts'
export type { AsyncFunction, CompareOptions } from './compare/compare-options.ts'
export type { ComparedFunction, ComparisonGroup, ComparisonOptions } from './compare/comparison-group.ts'
export type { ComparisonSettings } from './compare/comparison-settings.ts'
export { createComparison } from './compare/create-comparison.ts'
export type { FunctionVerdict } from './compare/function-verdict.ts'
export type { Mismatch } from './compare/mismatch.ts'
export { createCrosswalk } from './library/create-crosswalk.ts'
export type { Crosswalk, CrosswalkClocks, CrosswalkOptions, Log } from './library/crosswalk.ts'
export { type CrosswalkPluginOptions, crosswalk } from './library/fastify-plugin.ts'
export type { HostedSettings, Settings } from './library/settings-value.ts'
export type { WrittenModes } from './migrate/modes/rules.ts'
