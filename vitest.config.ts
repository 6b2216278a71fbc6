import { configDefaults, defineConfig } from 'vitest/config'

/** Files that replace a part of Node, or measure what the whole process holds. They share no process with others. */
const ALONE = ['test/cases/**/*.test.ts', 'test/faults/faults.test.ts', 'test/routes/**/rights.test.ts', 'test/upstream/**/send.test.ts']

export default defineConfig({
  test: {
    setupFiles: ['test/setup.ts'],
    testTimeout: 15_000,
    hookTimeout: 30_000,
    // Much of a test is waiting for processes and connections; vitest would leave a core idle.
    maxWorkers: '100%',
    projects: [
      { extends: true, test: { name: 'alone', include: ALONE } },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...ALONE],
          // The files of a worker share the modules they import: importing them anew for each file costs 0.2 s of CPU time a file.
          isolate: false,
        },
      },
    ],
  },
})
