import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    testTimeout: 15_000,
    hookTimeout: 30_000,
    // Much of a test is waiting for processes and connections; vitest would leave a core idle.
    maxWorkers: '100%',
  },
})
