import { defineConfig } from 'vitest/config'

/** nginx, a sandbox and proxies as processes of their own: a quarter of a minute, so not part of `npm test`. */
export default defineConfig({
  test: { include: ['test/balancer/*.check.ts'], fileParallelism: false, testTimeout: 60_000, hookTimeout: 60_000 },
})
