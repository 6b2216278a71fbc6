import { expect, it } from 'vitest'
import { refusalOf, unfitness } from '../../src/fleet/store/redis.ts'

it.each([
  ['WRONGPASS invalid username-password pair or user is disabled.', 'refuses the user or the password of store.url'],
  ['NOAUTH Authentication required.', 'refuses the user or the password of store.url'],
  [
    'ERR AUTH <password> called without any password configured. secret',
    'cannot be used: ERR AUTH <password> called without any password configured. ***',
  ],
  [
    "READONLY You can't write against a read only replica. script: 1",
    'is a replica that can only be read: store.url must name the primary, or the Sentinels',
  ],
  ["OOM command not allowed when used memory > 'maxmemory'.", 'is out of memory (maxmemory)'],
  ['LOADING Redis is loading the dataset in memory', 'still loads its data'],
  ['MOVED 1234 10.0.0.1:6379', 'is a Redis Cluster: store.url must name a single Redis, or Sentinels'],
  ['unable to verify the first certificate', 'has a certificate that is not trusted: unable to verify the first certificate'],
  [
    "Hostname/IP does not match certificate's altnames: Host: a",
    "has a certificate that is not trusted: Hostname/IP does not match certificate's altnames: Host: a",
  ],
  [
    'All sentinels are unreachable. Last error: connect ECONNREFUSED 10.0.0.1:26379',
    'cannot be reached: nothing listens; start Redis there, or correct store.url',
  ],
])('says of "%s" that the store %s', (message, sentence) => {
  expect(refusalOf(new Error(message), ['secret'])).toBe(sentence)
})

it('says why a connection to several addresses failed', () => {
  const error = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })
  expect(refusalOf(error, [])).toBe('cannot be reached: nothing listens; start Redis there, or correct store.url')
})

it.each([
  [{ code: 'ECONNREFUSED', address: '10.0.0.1', port: 6379 }, 'nothing listens (10.0.0.1:6379)'],
  [{ code: 'ENOTFOUND', hostname: 'redis' }, 'no machine has that name (redis)'],
  [{ code: 'EAI_AGAIN', hostname: 'redis' }, 'the name cannot be looked up now (redis)'],
  [{ code: 'EHOSTUNREACH', address: '10.0.0.1', port: 6379 }, 'no way leads there (10.0.0.1:6379)'],
  [{ code: 'ECONNRESET' }, 'the connection was broken'],
  [{ code: 'EPIPE' }, 'the connection was broken'],
])('says of %j what to do, without a code of the system', (members, reason) => {
  const error = Object.assign(new Error(`connect ${members.code}`), members)
  expect(refusalOf(error, [])).toBe(`cannot be reached: ${reason}; start Redis there, or correct store.url`)
})

const info = (fields: Readonly<Record<string, string>>) =>
  Object.entries({ redis_version: '7.0.15', role: 'master', maxmemory: '0', maxmemory_policy: 'noeviction', ...fields })
    .map(([name, value]) => `${name}:${value}\r\n`)
    .join('')

it.each([
  ['a fit one', {}, undefined],
  ['a newer one', { redis_version: '8.2.1' }, undefined],
  ['one without a bound of memory', { maxmemory_policy: 'allkeys-lru' }, undefined],
  ['an old one', { redis_version: '6.2.14' }, 'is Redis 6.2.14, but Crosswalk needs Redis 7 or Valkey 7.2'],
  ['a replica', { role: 'slave' }, 'is a replica that can only be read: store.url must name the primary, or the Sentinels'],
  [
    'one that forgets',
    { maxmemory: '100', maxmemory_policy: 'volatile-lru' },
    'forgets keys when its memory is full (maxmemory-policy volatile-lru): evidence would be lost in silence. Set it to noeviction',
  ],
])('judges a Redis by its INFO: %s', (_, fields, sentence) => {
  expect(unfitness(info(fields))).toBe(sentence)
})
