/** Where a store is, read from `store.url`. */
export type StoreAddress = FileAddress | RedisAddress

export interface FileAddress {
  readonly carrier: 'file'
  readonly path: string
}

export interface RedisAddress {
  readonly carrier: 'redis'
  /** What a person may read: the address without credentials. */
  readonly shown: string
  /** One Redis, or the Sentinels that know it. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[]
  /** The name that the Sentinels have for it. */
  readonly sentinelName?: string
  readonly isTls: boolean
  readonly username?: string
  readonly password?: string
  readonly database: number
}

const FORM =
  'store.url must be file:PATH, redis://HOST, rediss://HOST or redis+sentinel://HOST,HOST/NAME, with USER:PASSWORD@ before the host and /NUMBER of a database at its end if they are needed'

/** Scheme, credentials, hosts, path. A comma between hosts makes it no URL of the standard. */
const REDIS = /^(rediss?)(\+sentinel)?:\/\/(?:([^@/]*)@)?([^@/?#]+)((?:\/[^/?#]+)*)\/?$/
const HOST = /^(\[[\da-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i

/** Throws an error whose message is a sentence, and never quotes the URL: it may hold a password. */
export function readStoreUrl(url: string): StoreAddress {
  if (url.startsWith('file:') && url.length > 'file:'.length) return { carrier: 'file', path: url.slice('file:'.length) }
  const [, scheme, sentinel, credentials, hosts = '', path = ''] = REDIS.exec(url) ?? []
  if (scheme === undefined) throw new Error(FORM)
  const segments = path.split('/').slice(1).map(decoded)
  const sentinelName = sentinel ? segments.shift() : undefined
  const [database = '0', ...further] = segments
  if (Boolean(sentinel) !== (sentinelName !== undefined) || !/^\d{1,5}$/.test(database) || further.length > 0) throw new Error(FORM)
  const read = hosts.split(',').map((host) => hostOf(host, sentinel ? 26_379 : 6379))
  if (!sentinel && read.length > 1) throw new Error(FORM)
  return {
    carrier: 'redis',
    shown: `${scheme}${sentinel ?? ''}://${hosts}${path}`,
    hosts: read,
    ...(sentinelName !== undefined && { sentinelName }),
    isTls: scheme === 'rediss',
    ...credentialsOf(credentials),
    database: Number(database),
  }
}

function hostOf(text: string, port: number): RedisAddress['hosts'][number] {
  const [, host, given] = HOST.exec(text) ?? []
  if (host === undefined || Number(given ?? port) > 65_535) throw new Error(FORM)
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(given ?? port) }
}

function credentialsOf(text: string | undefined): Pick<RedisAddress, 'username' | 'password'> {
  if (!text) return {}
  const [username = '', ...password] = text.split(':')
  return {
    ...(username !== '' && { username: decoded(username) }),
    ...(password.length > 0 && { password: decoded(password.join(':')) }),
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error(FORM)
  }
}
