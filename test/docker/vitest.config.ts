import { defineConfig } from 'vitest/config'

/** Runs kubectl, helm and systemd-analyze on what is shipped, some ten seconds of them, so `npm test` does not include it. */
export default defineConfig({ test: { include: ['test/docker/*.check.ts'], testTimeout: 60_000 } })
