import { defineConfig } from 'vitest/config'

/** Clients in other languages, which need their compilers. `npm test` does not include them. */
export default defineConfig({
  test: { include: ['test/interop/*.check.ts'], fileParallelism: false, testTimeout: 600_000, hookTimeout: 60_000 },
})
