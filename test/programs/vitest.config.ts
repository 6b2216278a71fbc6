import { parseArgs } from 'node:util'
import { defineConfig, type TestUserConfig } from 'vitest/config'

declare module 'vitest' {
  interface ProvidedContext {
    contract: readonly string[]
    mutants: {
      readonly seconds: number | undefined
      readonly seed: number
      readonly code: number | undefined
      readonly only: string | undefined
    }
  }
}

/** What stands behind the `--` of an npm script: ours, not vitest's. */
function ownArguments(): string[] {
  const at = process.argv.indexOf('--')
  return at < 0 ? [] : process.argv.slice(at + 1)
}

const BUILT = { globalSetup: 'test/app/cli/built.ts', setupFiles: ['test/setup.ts'] }

/** The programs that vitest runs, by the name that `--mode` gives. README.md beside this file says what each of them shows. */
const programs: Readonly<Record<string, () => TestUserConfig>> = {
  balancer: () => ({ fileParallelism: false, testTimeout: 60_000, hookTimeout: 60_000 }),
  completion: () => ({ testTimeout: 30_000, hookTimeout: 30_000 }),
  contract: () => ({
    include: ['test/programs/contract/*.remote.ts'],
    testTimeout: 10 * 60_000,
    disableConsoleIntercept: true,
    provide: { contract: ownArguments() },
  }),
  // The store has 250 ms to answer, and bounds are promised for a quiet machine. Vitest prints each second try.
  fleet: () => ({
    ...BUILT,
    include: ['test/programs/fleet/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
    retry: 1,
  }),
  garden: () => ({ maxConcurrency: 4, testTimeout: 170_000, hookTimeout: 60_000, disableConsoleIntercept: true }),
  interop: () => ({ fileParallelism: false, testTimeout: 600_000, hookTimeout: 60_000 }),
  losses: () => ({ testTimeout: 60_000, hookTimeout: 60_000 }),
  manifests: () => ({ testTimeout: 60_000 }),
  /** `npm run mutants -- --sample SECONDS --seed N`; with `--code COUNT --only FILE:LINE` of the code, and otherwise of the tables. */
  mutants: () => {
    const options = {
      sample: { type: 'string' },
      seed: { type: 'string', default: '1' },
      code: { type: 'string' },
      only: { type: 'string' },
    } as const
    const { sample, seed, code, only } = parseArgs({ args: ownArguments(), options }).values
    const seconds = sample === undefined ? undefined : wholeNumber('sample', sample)
    const count = code === undefined ? undefined : wholeNumber('code', code)
    return {
      ...(count === undefined ? { setupFiles: BUILT.setupFiles } : BUILT),
      include: [`test/programs/mutants/${count === undefined ? '{facts,tables}' : 'code'}.mutants.ts`],
      testTimeout: count === undefined ? 30 * 60_000 : 0,
      disableConsoleIntercept: true,
      provide: { mutants: { seconds, seed: wholeNumber('seed', seed), code: count, only } },
    }
  },
  package: () => ({ globalSetup: 'test/programs/package/installed.ts', testTimeout: 60_000, hookTimeout: 300_000, maxWorkers: 2 }),
  pictures: () => ({ ...BUILT, testTimeout: 60_000, env: { PICTURES: process.argv.includes('-u') ? 'take' : 'compare' } }),
  reference: () => ({}),
  workers: () => ({ ...BUILT, testTimeout: 40_000, hookTimeout: 40_000, maxWorkers: 2, retry: 1 }),
}

/** The modes of a run without `--mode`, which is one of every program. */
const ALL = ['test', 'development', 'production']

export default defineConfig(({ mode }) => {
  if (ALL.includes(mode))
    return { test: { include: ['test/programs/*/*.{check,remote,mutants}.ts', 'test/programs/fleet/*.test.ts'], ...BUILT } }
  const program = programs[mode]
  if (!program) throw new Error(`--mode must name one of ${Object.keys(programs).join(', ')}, not "${mode}"`)
  return { test: { include: [`test/programs/${mode}/*.check.ts`], ...program() } }
})

function wholeNumber(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number from 1, not "${text}"`)
  return value
}
