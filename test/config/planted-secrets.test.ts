import { describe, expect, it } from 'vitest'
import { envOf, flagOf, SETTING_KEYS } from '../../src/app/config/settings.ts'
import { runCommand } from '../cli/support.ts'

const SECRET = 's3cret'

/** Addresses with a password or a token, also such as no parser takes. */
const PLANTED = [
  `https://user:${SECRET}@api.example.com`,
  `http://h.example?token=${SECRET}`,
  `http://h.example/#${SECRET}`,
  `user:${SECRET}@api.example.com`,
  `https:/user:p@${SECRET}@api.example.com:x`,
  `ftp://${SECRET}@api.example.com`,
]

const V2 = { CROSSWALK_UPSTREAM_V2: 'http://127.0.0.1:9' }

describe('a wrong address is never printed whole', () => {
  it.each(SETTING_KEYS)('in %s', async (key) => {
    for (const planted of PLANTED) {
      const inEnv = await runCommand(['serve', '--check'], { ...V2, [envOf(key)]: planted })
      const asFlag = await runCommand(['serve', '--check', `--${flagOf(key)}=${planted}`], V2)
      for (const { out, err } of [inEnv, asFlag]) expect([planted, out + err]).toEqual([planted, expect.not.stringContaining(SECRET)])
    }
  })

  it.each([
    [['cutover', '--admin']],
    [['clients', '--admin']],
    [['report', '--admin']],
    [['rollouts', '--admin']],
    [['sandbox', 'token', '--url']],
    [['openapi', '--server']],
    [['replay', 'none.log', '--against']],
    [['serve', '--upstream-v3']],
    [['serve']],
    [['config']],
  ])('by crosswalk %j', async (argv) => {
    for (const planted of PLANTED) {
      const { out, err } = await runCommand([...argv, planted], V2)
      expect([planted, out + err]).toEqual([planted, expect.not.stringContaining(SECRET)])
    }
  })
})
