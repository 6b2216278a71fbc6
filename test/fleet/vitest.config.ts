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
    // The store has 250 ms to answer, and bounds are promised for a quiet machine. Vitest prints each second try.
    retry: 1,
  },
})
