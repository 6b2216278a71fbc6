import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, inject, it } from 'vitest'

const directory = mkdtempSync(join(tmpdir(), 'crosswalk-unloaded-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Opens a store, and prints whether the client of Redis was loaded for it. */
const PROGRAM = `
import Module from 'node:module'
const { openStore } = await import(process.argv[1])
const store = await openStore(process.argv[2], 'unloaded')
await store.close()
console.log(Object.keys(Module._cache).some((path) => path.includes('ioredis')))`

it.each([
  ['loads', 'redis://127.0.0.1:1', 'true'],
  ['does not load', `file:${directory}/store`, 'false'],
])('%s the client of Redis for %s', async (_, url, isLoaded) => {
  const module = resolve(inject('cli'), '../../src/fleet/store/open.js')
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM, module, url], { timeout: 20_000 })
  expect(stdout.trim()).toBe(isLoaded)
})
