import { execFileSync } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import undici from 'undici'
import { describe, expect, inject, it } from 'vitest'
import { Agent, parseHeaders } from '../../../src/serve/upstream/undici.ts'
import { startStage } from '../../stage/stage.ts'
import { listening } from '../../stage/upstream.ts'

/** Prints the parts of undici that Node has loaded after `module` of the program, without the path before the package. */
const LISTED = `
  const { createRequire } = await import('node:module')
  await import(process.argv[1])
  const loaded = Object.keys(createRequire(process.argv[1]).cache).filter((path) => path.includes('node_modules/undici/'))
  console.log(loaded.map((path) => path.replace(/.*node_modules.undici./, '')).join(' '))
`

/** Runs a script in a process that has not loaded the index of the package. */
function ran(script: string, module: string): string {
  const path = join(inject('cli'), '../../src', module)
  return execFileSync(process.execPath, ['--input-type=module', '-e', script, path], { encoding: 'utf8' }).trim()
}

describe('the parts of undici', () => {
  it('are those of its index', () => {
    expect(Agent).toBe(undici.Agent)
    expect(parseHeaders).toBe(undici.util.parseHeaders)
  })

  it('give an agent the methods that the index gives it', () => {
    expect(Agent.prototype.request).toBe(undici.Dispatcher.prototype.request)
    const script = `const { Agent } = await import(process.argv[1]); console.log(typeof Agent.prototype.request)`
    expect(ran(script, 'serve/upstream/undici.js')).toBe('function')
  })

  it('are all that a start loads of it', () => {
    const loaded = ran(LISTED, 'app/server/server.js').split(' ')
    expect(loaded).toContain('lib/dispatcher/agent.js')
    expect(loaded.filter((path) => /^index|\/(web|mock|cache|interceptor)\//.test(path))).toEqual([])
  })
})

/** What undici does with an interim answer that nobody asked for (design §6.1). */
it.each([
  ['102 Processing', 200],
  ['103 Early Hints', 200],
  ['100 Continue', 503],
])('answers a translated read after %s with %i, and a native one with 200', async (interim, status) => {
  const body = '{"roles":[],"skipped":0}'
  const answer = `HTTP/1.1 ${interim}\r\n\r\nHTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const v2 = createServer((socket) => socket.on('error', () => {}).on('data', () => socket.write(answer)))
  const proxy = await startStage({ v1: null, v2: (await listening(v2)).url, proxy: { 'log.level': 'silent' } })
  const statusOf = async (path: string) => (await fetch(proxy.url + path, { headers: { authorization: 'Bearer t' } })).status
  expect([await statusOf('/iam/v1/roles'), await statusOf('/iam/v2/roles')]).toEqual([status, 200])
})
