import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { loadConfig, notifySettings } from '../../src/app/config/config.ts'
import { NEXT, SECRET } from './webhook.ts'

const directory = mkdtempSync(join(tmpdir(), 'crosswalk-notify-'))
afterAll(() => rmSync(directory, { recursive: true }))

const load = (flags: Record<string, string>) => loadConfig({ flags, env: {} })
const written = (name: string, text: string) => {
  writeFileSync(join(directory, name), text)
  return join(directory, name)
}

it('take an https address, or http on this machine, from a file too', () => {
  for (const url of ['https://hooks.example.com/a?token=b', 'http://127.0.0.1:9000/x', 'http://[::1]/', 'http://localhost']) {
    for (const given of [url, `@${written('receiver', `${url}\n`)}`]) {
      expect(load({ 'notify-url': given, 'notify-secret': SECRET })).toMatchObject({ config: { 'notify.url': url } })
    }
  }
})

it.each([
  'http://HIDDEN.example',
  'http://127.0.0.1.HIDDEN',
  'https://u:HIDDEN@x',
  'https://x/#HIDDEN',
  'ftp://HIDDEN',
  'HIDDEN',
  '@HIDDEN',
])('refuse %j as an address without showing it', (url) => {
  const loaded = load({ 'notify-url': url, 'notify-secret': SECRET })
  const says = /^notify\.url in the flag --notify-url (must be an address such as https|names a file that cannot be read)/
  expect(loaded).toHaveProperty('problem', expect.stringMatching(says))
  expect(JSON.stringify(loaded)).not.toContain('HIDDEN')
})

it('take several secrets, as text, as a list and line by line', () => {
  const list = written('list.json', JSON.stringify({ notify: { secret: [SECRET, NEXT] } }))
  const flags = [`${SECRET},${NEXT}`, `@${written('signing', `${SECRET}\n${NEXT}\n`)}`].map((text) => ({ 'notify-secret': text }))
  for (const loaded of [...flags, { config: list }].map(load)) {
    if ('problem' in loaded) throw new Error(loaded.problem)
    expect(notifySettings(loaded.config).secrets).toEqual([SECRET, NEXT])
  }
})

const WRONG_SECRETS = [
  'HIDDEN',
  'whsec_',
  'whsec_HIDDEN',
  `whsec_${'HIDDEN/+'.repeat(20)}`,
  `whsec_${'HIDDEN!'.repeat(8)}`,
  'HIDDEN'.repeat(9),
]

it.each(WRONG_SECRETS)('refuse %j as a secret without showing it', (text) => {
  for (const given of [text, `${SECRET},${text}`]) {
    const loaded = load({ 'notify-secret': given })
    expect(loaded).toHaveProperty('problem', expect.stringMatching(/^notify\.secret in the .* must be whsec_ and 24 to 64 random bytes/))
    expect(JSON.stringify(loaded)).not.toContain('HIDDEN')
  }
})

it('refuse an address without a secret, and the own address', () => {
  const url = 'http://127.0.0.1:8081/notify/test?token=HIDDEN'
  expect(load({ 'notify-url': url })).toHaveProperty(
    'problem',
    expect.stringMatching(/^notify\.url is set without notify\.secret.*openssl rand/),
  )
  expect(load({ 'notify-url': url, 'notify-secret': SECRET })).toEqual({
    problem: "notify.url is the proxy's own address (admin.host, admin.port), which takes no events; give the address of a receiver.",
  })
})

it.each([
  ['urn:crosswalk:eu', true],
  ['https://crosswalk.example.com/eu', true],
  ['eu', false],
  ['urn:with space', false],
])('judge %j as a source', (source, isRight) => {
  expect('config' in load({ 'notify-source': source })).toBe(isRight)
})
