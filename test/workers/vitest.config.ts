import { defineConfig } from 'vitest/config'

/** Starts the program as it is shipped, with workers, and kills some of them. `npm test` has no time for it. */
export default defineConfig({
  test: {
    include: ['test/workers/*.check.ts'],
    globalSetup: 'test/cli/built.ts',
    testTimeout: 40_000,
    hookTimeout: 40_000,
    maxWorkers: 2,
    // Bounds are promised for a quiet machine. Vitest prints each second try.
    retry: 1,
  },
})
