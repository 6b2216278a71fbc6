import { defineConfig } from 'vite'

/** Builds one classic script and one style sheet, which `html-page.ts` puts into the page: the page loads nothing. */
const built = {
  outDir: '../../../dist/web',
  emptyOutDir: true,
  target: 'es2022',
  cssCodeSplit: false,
  // The page shares functions with the server, and takes nothing else of the chapters that hold them.
  rolldownOptions: {
    treeshake: { moduleSideEffects: (path) => path.endsWith('.css') },
    onLog: (level, log, print) => /externalized for browser/.test(log.message) || print(level, log),
  },
  lib: { entry: 'main.tsx', formats: ['iife'], name: 'crosswalkReport', fileName: () => 'page.js', cssFileName: 'page' },
}

export default defineConfig({ root: import.meta.dirname, logLevel: 'warn', build: built })
