import { defineConfig } from 'vitest/config'

/** Run on its own, where the reference is at hand; the project's tests do not need it. */
export default defineConfig({ test: { include: ['test/reference/*.check.ts'] } })
