import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import undici from 'undici'
import { describe, expect, inject, it } from 'vitest'
import { Agent, parseHeaders } from '../../src/serve/upstream/undici.ts'

/** Prints the parts of undici that Node has loaded after `module` of the program, without the path before the package. */
const LISTED = `
  const { createRequire } = await import('node:module')
  await import(process.argv[1])
  const loaded = Object.keys(createRequire(process.argv[1]).cache).filter((path) => path.includes('node_modules/undici/'))
  console.log(loaded.map((path) => path.replace(/.*node_modules.undici./, '')).join(' '))
`

function loadedAfter(module: string): readonly string[] {
  const path = join(inject('cli'), '../../src', module)
  return execFileSync(process.execPath, ['--input-type=module', '-e', LISTED, path], { encoding: 'utf8' }).trim().split(' ')
}

describe('the parts of undici', () => {
  it('are those of its index', () => {
    expect(Agent).toBe(undici.Agent)
    expect(parseHeaders).toBe(undici.util.parseHeaders)
  })

  it('give an agent the methods that the index gives it', () => {
    expect(Agent.prototype.request).toBe(undici.Dispatcher.prototype.request)
    expect(Agent.prototype.request).toBeTypeOf('function')
  })

  it('are all that a start loads of it', () => {
    const loaded = loadedAfter('app/server/server.js')
    expect(loaded).toContain('lib/dispatcher/agent.js')
    expect(loaded.filter((path) => /^index|\/(web|mock|cache|interceptor)\//.test(path))).toEqual([])
  })
})
