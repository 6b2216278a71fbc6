import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { configSchema, loadConfig } from '../../src/app/config/config.ts'
import { SETTING_KEYS } from '../../src/app/config/settings.ts'
import { runCommand } from '../cli/support.ts'

const folder = mkdtempSync(join(tmpdir(), 'crosswalk-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const path = join(folder, 'crosswalk.yaml')
const TOKENS = 'admin: { token: HIDDEN-HIDDEN-HIDDEN, tokens: { alice: HIDDEN-HIDDEN-HIDDE2 } }'
writeFileSync(path, `limits:\n  deadlineMs: 5\n  streams: 6\n${TOKENS}\nv1: { sunset: 2027-03-01 }\n`)

describe('crosswalk config', () => {
  it('tells each value and where it comes from, and no secret', async () => {
    const env = { CROSSWALK_CONFIG: path, CROSSWALK_STREAMS: '7', CROSSWALK_STORE_URL: 'redis://u:HIDDEN@h' }
    const { code, out } = await runCommand(['config', '--port', '9', '--given'], env)
    expect(code).toBe(0)
    expect(out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['listen.port', '9', '--port'],
      ['admin.token', '(secret)', `${path}:4:17`],
      ['admin.tokens', '(secret)', `${path}:4:47`],
      ['v1.sunset', '2027-03-01T00:00:00.000Z', `${path}:5:15`],
      ['store.url', '(secret)', 'CROSSWALK_STORE_URL'],
      ['limits.streams', '7', 'CROSSWALK_STREAMS'],
      ['limits.deadlineMs', '5', `${path}:2:15`],
    ])
  })

  it('lists every setting, with defaults', async () => {
    const { out } = await runCommand(['config'])
    const rows = out.split('\n').map((line) => line.split(/ {2,}/))
    expect(rows.map(([key]) => key)).toEqual(SETTING_KEYS)
    expect(rows.every(([, , from]) => from === 'default')).toBe(true)
  })

  it('writes a file in JSON that holds every value but the secrets, and names these', async () => {
    const ignore = JSON.stringify([{ operations: '*', at: '/items/*/name', reason: 'r', until: '2027-03-01' }])
    const { out, err } = await runCommand(['config', '--json', '--config', path, '--diff-ignore', ignore, '--mode', 'diff-v1'])
    expect(err).toBe('Left out, because they are secret: admin.token, admin.tokens.')
    const again = join(folder, 'again.json')
    writeFileSync(again, out)
    const first = loadConfig({ flags: { config: path, 'diff-ignore': ignore, mode: 'diff-v1' }, env: {} })
    expect(
      loadConfig({
        flags: { config: again, 'admin-token': 'HIDDEN-HIDDEN-HIDDEN', 'admin-tokens': 'alice=HIDDEN-HIDDEN-HIDDE2' },
        env: {},
      }),
    ).toEqual(first)
  })

  it('writes a file of the defaults, which changes nothing', async () => {
    const defaults = join(folder, 'defaults.json')
    writeFileSync(defaults, (await runCommand(['config', '--json'])).out)
    expect(loadConfig({ flags: { config: defaults }, env: {} })).toEqual(loadConfig({ flags: {}, env: {} }))
  })

  it('tells origins in JSON', async () => {
    const { out } = await runCommand(['config', '--origins', '--given', '--config', path])
    expect(JSON.parse(out)).toContainEqual({
      key: 'limits.streams',
      value: 6,
      from: 'file',
      name: `${path}:3:12`,
      env: 'CROSSWALK_STREAMS',
      flag: '--streams',
      live: expect.anything(),
    })
  })

  it('tells every problem instead', async () => {
    const { code, out, err } = await runCommand(['config', '--port', 'x', '--streams', '0'])
    expect({ code, out, lines: err.split('\n').length }).toEqual({ code: 2, out: '', lines: 2 })
  })

  it('prints the JSON Schema', async () => {
    expect(JSON.parse((await runCommand(['config', '--schema'])).out)).toEqual(configSchema())
  })
})
