import { defineConfig } from 'vitest/config'

/** Runs nginx, a sandbox and proxies as processes of their own. This takes 15 seconds, so `npm test` does not include it. */
export default defineConfig({
  test: { include: ['test/balancer/*.check.ts'], fileParallelism: false, testTimeout: 60_000, hookTimeout: 60_000 },
})
