import { parseArgs } from 'node:util'
import { defineConfig } from 'vitest/config'
import { ownArguments } from '../own-arguments.ts'

declare module 'vitest' {
  interface ProvidedContext {
    mutants: { readonly seconds: number | undefined; readonly seed: number }
  }
}

/** `npm run mutants -- --sample SECONDS --seed N` */
const { values } = parseArgs({
  args: ownArguments(),
  options: { sample: { type: 'string' }, seed: { type: 'string', default: '1' } },
})
const seconds = values.sample === undefined ? undefined : number('sample', values.sample)

export default defineConfig({
  test: {
    include: ['test/mutants/**/*.mutants.ts'],
    setupFiles: ['test/setup.ts'],
    testTimeout: 30 * 60_000,
    disableConsoleIntercept: true,
    provide: { mutants: { seconds, seed: number('seed', values.seed) } },
  },
})

function number(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number from 1, not "${text}"`)
  return value
}
