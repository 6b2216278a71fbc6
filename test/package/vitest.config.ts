import { defineConfig } from 'vitest/config'

/** Packs Crosswalk and installs it into an empty folder, with packages of the registry. `npm test` has neither the time nor the network. */
export default defineConfig({
  test: {
    include: ['test/package/*.check.ts'],
    globalSetup: 'test/package/installed.ts',
    testTimeout: 60_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
  },
})
