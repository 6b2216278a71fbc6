import { defineConfig } from 'vitest/config'

/** Runs nginx twice and Envoy once, with a rename in each. This takes 5 seconds and needs their modules, so `npm test` does not include it. */
export default defineConfig({ test: { include: ['test/losses/*.check.ts'], testTimeout: 60_000, hookTimeout: 60_000 } })
