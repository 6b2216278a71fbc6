/** Crosswalk in a program of yours: `import { createCrosswalk } from 'crosswalk'`. docs/library.md shows how. */

export { createCrosswalk } from './library/create-crosswalk.ts'
export type { Crosswalk, CrosswalkClocks, CrosswalkOptions, Log, WrittenModes } from './library/crosswalk.ts'
export { type CrosswalkPluginOptions, crosswalk } from './library/fastify-plugin.ts'
export type { HostedSettings, Settings } from './library/settings-value.ts'
