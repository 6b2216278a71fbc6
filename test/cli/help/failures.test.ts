import { describe, expect, it } from 'vitest'
import { runCommand } from '../support.ts'

const PUT = 'PUT /registry/v1/repos/aa/bb'
const SERVE = ['serve', '--upstream-v2', 'http://127.0.0.1:1', '--port', '0', '--admin-port', '0']

describe('a failure of the system is told in words:', () => {
  it.each([
    [['replay', 'src'], 2, 'src cannot be opened: it is a folder; name a file.'],
    [['explain', PUT, '--data', 'src'], 2, 'src cannot be opened: it is a folder; name a file.'],
    [['case', 'x', '--records', 'src'], 2, 'src cannot be opened: it is a folder; name a file.'],
    [['openapi', '--out', '/nowhere/x'], 2, '/nowhere/x cannot be opened: there is no such file or folder.'],
    [['openapi', '--out', '/'], 2, '/ cannot be opened: it is a folder; name a file.'],
    [['report', '/nowhere'], 3, '/nowhere cannot be opened: there is no such file or folder.'],
    [['sandbox', '--data', '/nowhere.json'], 2, '/nowhere.json cannot be opened: there is no such file or folder.'],
    [[...SERVE, '--config', '/nowhere'], 2, 'The configuration file /nowhere cannot be read: there is no such file or folder (/nowhere).'],
    [[...SERVE, '--config', 'src'], 2, 'The configuration file src cannot be read: it is a folder; name a file.'],
    [[...SERVE, '--records-file', 'src'], 1, 'records.file cannot be written: it is a folder (src); name a file'],
    [[...SERVE, '--tls-key', 'src', '--tls-cert', 'src'], 1, 'tls.key cannot be read: it is a folder (src); name a file'],
    [[...SERVE, '--store-url', 'file:src'], 1, 'store.url: the file cannot be read: it is a folder (src); name a file'],
    [
      [...SERVE, '--store-url', 'file:/nowhere/x'],
      1,
      'store.url: the file /nowhere/x cannot be written: there is no such file or folder (/nowhere/x.new)',
    ],
    [[...SERVE, '--tables', '/nowhere'], 2, '/nowhere cannot be loaded as tables: there is no such file'],
    [[...SERVE, '--host', '192.0.2.1'], 1, '192.0.2.1 is not an address of this machine; give one of its addresses, or 0.0.0.0 for all.'],
    [
      ['cutover', '--admin', 'nonsense'],
      2,
      '--admin is "nonsense", but it must be an address such as http://127.0.0.1:8081, without credentials, query and fragment.',
    ],
    [
      ['sandbox', 'token', '--url', 'nonsense'],
      2,
      '--url is "nonsense", but it must be an address such as http://127.0.0.1:8090, without credentials, query and fragment.',
    ],
  ])('%j', async (argv, code, err) => {
    expect(await runCommand(argv)).toEqual({ code, out: '', err })
  })

  it('a body of JSON may stand on the command line', async () => {
    const { code, out } = await runCommand(['explain', PUT, '--type', 'application/json', '--data', '{"name": "x"}'])
    expect([code, out]).toEqual([0, expect.stringContaining('"name"')])
  })
})
