import { expect, it } from 'vitest'
import { readStoreUrl } from '../../src/fleet/store/store.ts'

const redis = (host: string, port: number, more: object = {}) => ({
  ...{ carrier: 'redis', hosts: [{ host, port }], isTls: false, database: 0 },
  ...more,
})

it.each([
  ['file:/var/lib/crosswalk/store', { carrier: 'file', path: '/var/lib/crosswalk/store' }],
  ['file:store.json', { carrier: 'file', path: 'store.json' }],
  ['redis://redis', redis('redis', 6379, { shown: 'redis://redis' })],
  ['redis://[::1]:7000/', redis('::1', 7000, { shown: 'redis://[::1]:7000' })],
  [
    'rediss://u%40x:p%3Ay:z@h:7000/3',
    { ...redis('h', 7000, { shown: 'rediss://h:7000/3', username: 'u@x', password: 'p:y:z' }), isTls: true, database: 3 },
  ],
  ['redis://:secret@h', redis('h', 6379, { shown: 'redis://h', password: 'secret' })],
  [
    'redis+sentinel://:secret@a,b:7000/main/2',
    {
      ...{
        carrier: 'redis',
        shown: 'redis+sentinel://a,b:7000/main/2',
        sentinelName: 'main',
        isTls: false,
        database: 2,
        password: 'secret',
      },
      hosts: [
        { host: 'a', port: 26_379 },
        { host: 'b', port: 7000 },
      ],
    },
  ],
  ['rediss+sentinel://a/main', redis('a', 26_379, { shown: 'rediss+sentinel://a/main', sentinelName: 'main', isTls: true })],
])('reads the store URL %s', (url, address) => {
  expect(readStoreUrl(url)).toEqual(address)
})

it.each([
  '',
  'file:',
  'redis:',
  'redis://',
  'redis://:secret@',
  'redis://secret@a,b',
  'redis://a:99999',
  'redis://a/x',
  'redis://a/1/2',
  'redis+sentinel://secret@a',
  'http://secret@a',
  'redis://:secret@a?x',
  'redis://a:secret',
  'redis://a/%zz',
  'redis://%zz@a',
])('refuses the store URL "%s" with a sentence that does not quote it', (url) => {
  const refused = (() => {
    try {
      return readStoreUrl(url)
    } catch (error) {
      return (error as Error).message
    }
  })()
  expect(refused).toMatch(/^store\.url must be file:PATH, redis:\/\/HOST/)
  expect(refused).not.toContain('secret')
})
