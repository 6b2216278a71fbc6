import { defineConfig } from 'vitest/config'

/** Loads the completions into real shells. They are programs that `npm test` does not need. */
export default defineConfig({
  test: { include: ['test/completion/*.check.ts'], testTimeout: 30_000, hookTimeout: 30_000 },
})
