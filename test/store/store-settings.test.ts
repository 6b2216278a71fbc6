import { expect, it } from 'vitest'
import { loadConfig } from '../../src/app/config/config.ts'

const load = (flags: Readonly<Record<string, string>>) => loadConfig({ flags, env: {} })

it.each(['redis://secret@a,b', 'redis://:secret@a:99999', 'redis://:secret@a/x', 'redis+sentinel://:secret@a', 'redis://:secret@', 'a'])(
  'refuses the malformed store URL %s among the settings, and does not quote it',
  (url) => {
    const loaded = load({ 'store-url': url })
    expect(loaded).toEqual({ problem: expect.stringMatching(/^store\.url in the flag --store-url must be an address such as file:PATH/) })
    expect(JSON.stringify(loaded)).not.toContain('secret')
  },
)

it.each(['file:store', 'redis://h', 'rediss://u:p@h:1/2', 'redis+sentinel://a,b/name'])('takes the store URL %s', (url) => {
  expect(load({ 'store-url': url })).toMatchObject({ config: { 'store.url': url } })
})

it.each([
  [{ 'store-url': 'file:./a', 'store-cache': 'a' }, 'store.cache names the file of store.url'],
  [{ 'store-url': 'file:a', 'records-file': 'a' }, 'records.file names the file of store.url'],
  [{ 'store-cache': 'a', 'records-file': 'a' }, 'records.file names the file of store.cache'],
  [{ 'tls-key': 'a' }, 'tls.key and tls.cert go together'],
])('refuses settings that the start would refuse later: %j', (flags, sentence) => {
  expect(load(flags as Readonly<Record<string, string>>)).toEqual({ problem: expect.stringContaining(sentence) })
})
