import { isSystemError, systemReason } from '../../errors.ts'
import { FOREIGN } from './types-script.ts'

/** What an answer or an error of Redis means for a person. The first row whose words occur in the message counts. */
const MEANINGS: readonly (readonly [words: RegExp, meaning: string])[] = [
  [/WRONGPASS|NOAUTH|invalid password|invalid username/i, 'refuses the user or the password of store.url'],
  [/NOPERM/, 'does not permit its user all that Crosswalk needs'],
  [/READONLY/, 'is a replica that can only be read: store.url must name the primary, or the Sentinels'],
  [/^OOM|out of memory|OOM command/i, 'is out of memory (maxmemory)'],
  [/LOADING/, 'still loads its data'],
  [/^BUSY/, 'is busy with a script'],
  [/MISCONF/, 'cannot write its data to disk, and therefore refuses changes'],
  [/MOVED|CROSSSLOT|CLUSTERDOWN/, 'is a Redis Cluster: store.url must name a single Redis, or Sentinels'],
  [/Unknown RESP|protocol error|Please report this|Protocol error/i, 'does not speak the protocol of Redis'],
  [/Command timed out|Socket timeout|ETIMEDOUT|timed out/i, 'did not answer in time'],
  [/Connection is closed|Connection ended|closed by|aborted due to connection close|isn't writeable/i, 'closed the connection'],
]

/** A key of another type, as a script tells it. */
const KEY = new RegExp(`${FOREIGN} (?<found>\\S+) (?<wanted>\\S+) (?<key>.+)$`)

/** Returns the key that is not as Crosswalk would have written it; undefined if an error means something else. */
export function foreignKeyOf(error: unknown): string | undefined {
  return KEY.exec(String(error))?.groups?.['key']
}

/** What OpenSSL and Node say of a certificate. */
const CERTIFICATE = /certificate|altnames|unable to verify/i

/** Ends the sentence "The store at … ". A password in a message is hidden: some servers quote a command that they do not know. */
export function refusalOf(error: unknown, secrets: readonly string[]): string {
  const text = error instanceof Error ? error.message || String((error as NodeJS.ErrnoException).code ?? error.name) : String(error)
  const { found, wanted, key } = KEY.exec(text)?.groups ?? {}
  if (key !== undefined) {
    return `has a ${found} at the key ${key}, where Crosswalk keeps a ${wanted}: somebody else writes there. Delete or rename that key, or choose another store.name`
  }
  const meaning = MEANINGS.find(([words]) => words.test(text))?.[1]
  if (meaning !== undefined) return meaning
  if (isSystemError(error)) return `cannot be reached: ${systemReason(error)}; start Redis there, or correct store.url`
  const hidden = secrets.reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
  const what = CERTIFICATE.test(text) ? 'has a certificate that is not trusted' : 'cannot be used'
  return `${what}: ${hidden.replaceAll(/\s+/g, ' ').slice(0, 300)}`
}

/** Says what is wrong with a Redis that answers, by its `INFO`; undefined if nothing is. */
export function unfitness(info: string): string | undefined {
  const fields = new Map(info.split('\n').map((line) => [line.split(':', 1)[0], line.slice(line.indexOf(':') + 1).trimEnd()]))
  const of = (field: string) => fields.get(field) ?? ''
  const version = of('redis_version')
  if (!(Number.parseInt(version, 10) >= 7))
    return `is Redis ${version || 'of an unknown version'}, but Crosswalk needs Redis 7 or Valkey 7.2`
  if (of('role') === 'slave') return 'is a replica that can only be read: store.url must name the primary, or the Sentinels'
  const policy = of('maxmemory_policy')
  if (of('maxmemory') !== '0' && policy !== 'noeviction') {
    return `forgets keys when its memory is full (maxmemory-policy ${policy}): evidence would be lost in silence. Set it to noeviction`
  }
  return undefined
}
