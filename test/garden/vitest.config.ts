import { defineConfig } from 'vitest/config'

/** Runs Debian's HTTP servers and proxies as processes of their own. This takes a minute or two, so `npm test` does not include it. */
export default defineConfig({
  test: {
    include: ['test/garden/*.check.ts'],
    maxConcurrency: 4,
    testTimeout: 170_000,
    hookTimeout: 60_000,
    disableConsoleIntercept: true,
  },
})
