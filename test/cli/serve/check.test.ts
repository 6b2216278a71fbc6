import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runCommand } from '../support.ts'

const folder = mkdtempSync(join(tmpdir(), 'crosswalk-check-'))
afterAll(() => rmSync(folder, { recursive: true }))

const V2 = ['--upstream-v2', 'http://v2.test']
const check = (...argv: readonly string[]) => runCommand(['serve', '--check', ...argv])

describe('serve --check', () => {
  it('opens no port, asks no service and makes no file', async () => {
    const records = join(folder, 'records.ndjson')
    const argv = [...V2, '--records-file', records, '--store-url', `file:${join(folder, 'store')}`, '--port', '1']
    expect(await check(...argv)).toEqual({ code: 0, out: 'crosswalk serve would start with these settings.', err: '' })
    expect(existsSync(records)).toBe(false)
  })

  it('tells every problem in a line', async () => {
    const store = join(folder, 'no-store')
    writeFileSync(store, '{}')
    const { code, out, err } = await check(
      ...['--deadline-ms', 'x', '--mode', 'diff-v1', '--tls-key', '/nope', '--records-file', folder],
      ...['--store-url', `file:${store}`, '--store-cache', join(folder, 'nope', 'cache')],
    )
    expect({ code, out, lines: err.split('\n') }).toEqual({
      code: 2,
      out: '',
      lines: [
        'limits.deadlineMs is "x" in the flag --deadline-ms, but it must be a whole number from 1 to 3600000.',
        expect.stringMatching(/^upstream\.v2 is not set/),
        expect.stringMatching(/upstream\.v1/),
        'tls.key and tls.cert go together: set both, or none for plain text.',
        `records.file cannot be written: ${folder} is no file.`,
        `store.cache cannot be written: ${join(folder, 'nope')} cannot be opened: there is no such file or folder.`,
        `store.url: ${store} is not a whole store of Crosswalk.`,
      ],
    })
  })

  it('says nothing further of a setting that is wrong already', async () => {
    const { code, err } = await check('--upstream-v2', 'nonsense')
    expect({ code, lines: err.split('\n') }).toEqual({ code: 2, lines: [expect.stringMatching(/^upstream\.v2 is "nonsense"/)] })
  })

  it('says that tables cannot be loaded', async () => {
    const { code, err } = await check(...V2, '--tables', join(folder, 'none.js'))
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('none.js cannot be loaded as tables') })
  })

  it('knows the tables', async () => {
    const rule = JSON.stringify([{ operations: 'iam.roles.list', at: '/items/*/nam', reason: 'r', until: '2027-03-01' }])
    const { code, err } = await check(...V2, '--diff-ignore', rule)
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('did you mean "name"?') })
  })
})
