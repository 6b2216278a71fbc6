import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that replace a part of Node, or measure what the whole process holds. */
const ALONE = ['test/admin/rights.test.ts', 'test/serve/upstream/send.test.ts']

/** Tests and samples of the programs. `.ci/run` runs them, and `npm test` leaves them out. */
const PROGRAMS = ['test/programs/**/*.test.ts']

/** Files that take longest. They begin first, because they would be the last. */
const LONG = [
  'test/docs/journeys.test.ts',
  'test/admin/page.test.ts',
  'test/contract/contract.test.ts',
  'test/migrate/evidence/ledger.test.ts',
  'test/app/cli/process.test.ts',
  'test/migrate/modes/acceptance.test.ts',
  'test/serve/http/memory.test.ts',
  'test/fleet/modes.test.ts',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification) => LONG.findIndex((file) => moduleId.endsWith(`/${file}`)) >>> 0
    return sorted.sort((one, other) => rank(one) - rank(other))
  }
}

/** Files in random order have no other one. */
const isShuffled = process.argv.some((arg) => arg.startsWith('--sequence.shuffle'))

export default defineConfig({
  // Examples import the package by its name, and get the sources.
  resolve: {
    alias: [
      { find: /^crosswalk$/, replacement: new URL('src/index.ts', import.meta.url).pathname },
      { find: 'crosswalk/tables', replacement: new URL('src/tables/language.ts', import.meta.url).pathname },
    ],
  },
  test: {
    reporters: ['./test/room-reporter.ts'],
    setupFiles: ['test/setup.ts'],
    // Long enough for a busy machine: what waits, waits for an event.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A third of the time of a test is waiting for processes and connections. One worker more keeps the cores busy meanwhile.
    maxWorkers: availableParallelism() + 1,
    ...(!isShuffled && { sequence: { sequencer: LongestFirst } }),
    // Transforming 1,500 modules costs 3 s of CPU time in each project and in each run. The cache below node_modules goes by their contents.
    experimental: { fsModuleCache: true },
    projects: [
      {
        extends: true,
        test: {
          name: 'programs',
          include: PROGRAMS,
          exclude: [...configDefaults.exclude, 'test/programs/fleet/**'],
          globalSetup: 'test/app/cli/built.ts',
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE } },
      // The files of a worker share the modules they import: importing them anew for each file costs 0.2 s of CPU time a file.
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...ALONE, 'test/programs/**'],
          globalSetup: 'test/app/cli/built.ts',
          isolate: false,
        },
      },
    ],
  },
})
