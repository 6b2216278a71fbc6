import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

/** Compares with a next that never answers, and ends without `close`. */
const PROGRAM = `
import { compare } from './dist/src/index.js'
const getUser = compare(async (id) => ({ id }), () => new Promise(() => {}), { name: 'users.get', isRead: true })
console.log(JSON.stringify(await getUser('u1')), getUser.comparison.verdict().verdict)
`

it('keeps no process from exiting', async () => {
  const run = promisify(execFile)
  const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', PROGRAM], { timeout: 20_000 })
  expect({ stdout, stderr }).toEqual({ stdout: '{"id":"u1"} INCONCLUSIVE\n', stderr: '' })
})
