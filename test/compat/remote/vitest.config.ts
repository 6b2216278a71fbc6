import { defineConfig } from 'vitest/config'
import { ownArguments } from '../../own-arguments.ts'

declare module 'vitest' {
  interface ProvidedContext {
    contract: readonly string[]
  }
}

export default defineConfig({
  test: {
    include: ['test/compat/remote/*.remote.ts'],
    testTimeout: 10 * 60_000,
    disableConsoleIntercept: true,
    provide: { contract: ownArguments() },
  },
})
