import { defineConfig } from 'vitest/config'

/** Debian's HTTP servers and proxies as processes of their own: a minute or two, so not part of `npm test`. */
export default defineConfig({
  test: {
    include: ['test/garden/*.check.ts'],
    maxConcurrency: 4,
    testTimeout: 170_000,
    hookTimeout: 60_000,
    disableConsoleIntercept: true,
  },
})
