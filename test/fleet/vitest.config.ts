import { defineConfig } from 'vitest/config'

/** Runs Redis and proxies as processes of their own. `npm test` has no time for it. Each file starts its servers on free ports. */
export default defineConfig({
  test: {
    include: ['test/fleet/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    globalSetup: 'test/cli/built.ts',
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
  },
})
