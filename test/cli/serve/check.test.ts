import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
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
        `records.file cannot be written: ${folder} is not a file.`,
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

  it.each([
    [['--port', '8000', '--admin-port', '8000'], 'listen.port and admin.port are both 8000'],
    [['--port', '8081', '--host', '0.0.0.0'], 'listen.port and admin.port are both 8081'],
    [['--port', '8081', '--host', 'localhost'], 'listen.port and admin.port are both 8081'],
    [['--port', '8000', '--workers', '2', '--admin-port', '8000'], 'listen.port and admin.port are both 8000'],
  ])('says that one port has two listeners: %j', async (argv, problem) => {
    const { code, err } = await check(...V2, ...argv)
    expect({ code, err }).toEqual({ code: 2, err: `${problem}, but a port has one listener; give each its own (0 = any).` })
  })

  it('says nothing of two ports that a process can open', async () => {
    for (const argv of [
      ['--port', '0', '--admin-port', '0'],
      ['--port', '8000', '--admin-port', '8000', '--host', '10.0.0.1'],
    ]) {
      expect(await check(...V2, ...argv)).toMatchObject({ code: 0, err: '' })
    }
  })

  it.each(['admin-token', 'admin-read-token', 'store-url', 'notify-url'])('names the file of --%s that cannot be read', async (name) => {
    const { code, err } = await check(...V2, `--${name}`, '@/nope/token')
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining('names a file that cannot be read: there is no such file or folder (/nope/token).'),
    })
  })

  it.each([
    ['-WRONGPASS invalid username-password pair or user is disabled.', 'refuses the user or the password of store.url'],
    ['-ERR unknown command', 'cannot be used: ERR unknown command'],
  ])('says that the store refuses: %s', async (answer, why) => {
    const store = createServer((socket) => {
      const refuse = (text: Buffer) => socket.write(`${answer}\r\n`.repeat(String(text).match(/^\*\d/gm)?.length ?? 0))
      socket.on('data', refuse).on('error', () => {})
    }).listen(0)
    await once(store, 'listening')
    const { port } = store.address() as AddressInfo
    const { code, err } = await check(...V2, '--store-url', `redis://:secret@127.0.0.1:${port}`)
    store.close()
    expect({ code, err }).toEqual({ code: 2, err: `store.url: the store at redis://127.0.0.1:${port} ${why}.` })
  })

  it('says nothing of a store that is not there', async () => {
    expect(await check(...V2, '--store-url', 'redis://127.0.0.1:1')).toMatchObject({ code: 0, err: '' })
  })

  it('knows the tables', async () => {
    const rule = JSON.stringify([{ operations: 'iam.roles.list', at: '/items/*/nam', reason: 'r', until: '2027-03-01' }])
    const { code, err } = await check(...V2, '--diff-ignore', rule)
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('did you mean "name"?') })
  })
})
