import { defineConfig } from 'vitest/config'

/** Shows the page of the program as it is built, in Chromium. `npm test` does not include it. */
export default defineConfig({
  test: {
    include: ['test/pictures/*.check.ts'],
    globalSetup: 'test/cli/built.ts',
    setupFiles: ['test/setup.ts'],
    testTimeout: 60_000,
    env: { PICTURES: process.argv.includes('-u') ? 'take' : 'compare' },
  },
})
