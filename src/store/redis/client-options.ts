import type { RedisOptions } from 'ioredis'
import type { RedisAddress } from '../store-address.ts'
import { EXCHANGE_SCRIPT } from './exchange-script.ts'
import { REPLACE_SCRIPT } from './replace-script.ts'

/** Milliseconds for an answer. A connection on which nothing was answered for so long is closed, and with it ends what waits on it. */
export const ANSWER_MS = 1000

/** The longest pause before the connection is made again. A store that is back must be caught up with within 2 seconds. */
const PAUSE_MS = 400

type ClientOptions = RedisOptions & { readonly replyMapping: 'legacy' }

/** What makes ioredis say at once that there is no store, and never send by itself what was sent before. */
export function clientOptions({ hosts, sentinelName, isTls, username, password, database }: RedisAddress): ClientOptions {
  const tls = isTls ? {} : undefined
  const place = sentinelName === undefined ? { ...hosts[0], ...(tls && { tls }) } : sentinelOptions(hosts, sentinelName, tls, password)
  return {
    ...place,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    db: database,
    connectionName: 'crosswalk',
    disableClientInfo: true,
    lazyConnect: true,
    replyMapping: 'legacy',
    // The fleet itself sends again what was not answered.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    // A Redis that is frozen takes connections and answers nothing. Without these, a handshake would wait for ever.
    connectTimeout: ANSWER_MS,
    commandTimeout: ANSWER_MS,
    socketTimeout: ANSWER_MS,
    disconnectTimeout: 50,
    retryStrategy: (times) => Math.min(50 * 2 ** times, PAUSE_MS) * (0.5 + Math.random() / 2),
    scripts: {
      crosswalkExchange: { lua: EXCHANGE_SCRIPT, numberOfKeys: 1 },
      crosswalkReplace: { lua: REPLACE_SCRIPT, numberOfKeys: 1 },
    },
  }
}

function sentinelOptions(
  sentinels: RedisAddress['hosts'],
  name: string,
  tls: object | undefined,
  password: string | undefined,
): RedisOptions {
  return {
    sentinels: [...sentinels],
    name,
    ...(password !== undefined && { sentinelPassword: password }),
    ...(tls && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
    sentinelCommandTimeout: ANSWER_MS,
  }
}
