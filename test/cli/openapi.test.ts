import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { documentWith } from '../openapi/documents.ts'
import { runCommand } from './support.ts'

const PING = ['openapi', '--operations', 'ping.*']

describe('openapi', () => {
  it('prints the contract of the operations that a pattern covers', async () => {
    const { code, out } = await runCommand([...PING, '--dialect', 'published'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual(documentWith({ dialect: 'published', operations: ['ping.*'] }))
  })

  it('prints what the settings say of the proxy', async () => {
    const settings = ['--host', '0.0.0.0', '--port', '9000', '--v1-sunset', '2030-01-01', '--not-found', 'error']
    const { out } = await runCommand([...PING, ...settings])
    expect(JSON.parse(out)).toEqual(
      documentWith({ server: 'http://localhost:9000', operations: ['ping.*'], sunset: 1_893_456_000, notFound: 'error' }),
    )
    const { out: elsewhere } = await runCommand([...PING, '--server', 'https://v1.example'])
    expect(JSON.parse(elsewhere).servers).toEqual([{ url: 'https://v1.example' }])
  })

  it('writes the document to a file', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'crosswalk-')), 'v1.json')
    expect(await runCommand([...PING, '--out', file])).toEqual({ code: 0, out: `written to ${file}`, err: '' })
    expect(readFileSync(file, 'utf8')).toBe(`${JSON.stringify(documentWith({ operations: ['ping.*'] }), null, 2)}\n`)
  })

  it.each([
    [['--operations', 'iam.group.list'], '--operations "iam.group.list" fits no operation; did you mean "iam.groups.list"?'],
    [['--server', 'proxy'], 'server is "proxy" in the flag --server, but it must be an address such as https://proxy.example.'],
    [['--dialect', 'klingon'], 'v1.dialect is "klingon" in the flag --dialect, but it must be one of specification, published.'],
  ])('refuses %j with one sentence', async (flags, err) => {
    expect(await runCommand(['openapi', ...flags])).toEqual({ code: 2, out: '', err })
  })
})
