import { randomUUID } from 'node:crypto'
import type { Redis, RedisOptions } from 'ioredis'
import { isSystemError, systemReason } from '../../errors.ts'
import { EXCHANGE_SCRIPT, FOREIGN, LARGE, MOST_COUNTED, REPLACE_SCRIPT, stepsOf } from './redis-scripts.ts'
import {
  type Batch,
  type Claim,
  KEPT_MS,
  type Kinds,
  type RedisAddress,
  type Replaced,
  type Store,
  type StoreChange,
  StoreDown,
  type StoreFound,
  type StoreRead,
  type Sums,
} from './store.ts'

/** Milliseconds for an answer. A connection on which nothing was answered for so long is closed, and with it ends what waits on it. */
const ANSWER_MS = 1000

/** The longest pause before the connection is made again. A store that is back must be caught up with within 2 seconds. */
const PAUSE_MS = 400

type ClientOptions = RedisOptions & { readonly replyMapping: 'legacy' }

/** What makes ioredis say at once that there is no store, and never send by itself what was sent before. */
function clientOptions({ hosts, sentinelName, isTls, username, password, database }: RedisAddress): ClientOptions {
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
    // The password goes to the Sentinels of store.url alone, and not to those that one of them names.
    updateSentinels: false,
    ...(password !== undefined && { sentinelPassword: password }),
    ...(tls && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
    sentinelCommandTimeout: ANSWER_MS,
  }
}

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
const KEY = new RegExp(`(?:${LARGE}|${FOREIGN} (?<found>\\S+) (?<wanted>\\S+)) (?<key>.+)$`)

/** Returns the key that is not as Crosswalk would have written it; undefined if an error means something else. */
function foreignKeyOf(error: unknown): string | undefined {
  return KEY.exec(String(error))?.groups?.['key']
}

/** What OpenSSL and Node say of a certificate. */
const CERTIFICATE = /certificate|altnames|unable to verify/i

/** Ends the sentence "The store at … ". A password in a message is hidden: some servers quote a command that they do not know. */
export function refusalOf(error: unknown, secrets: readonly string[]): string {
  const text = error instanceof Error ? error.message || String((error as NodeJS.ErrnoException).code ?? error.name) : String(error)
  const { found, wanted, key } = KEY.exec(text)?.groups ?? {}
  if (key !== undefined) {
    const what =
      found === undefined
        ? `more at the key ${key} than Crosswalk writes`
        : `a ${found} at the key ${key}, where Crosswalk keeps a ${wanted}`
    return `has ${what}: somebody else writes there. Delete or rename that key, or choose another store.name`
  }
  const meaning = MEANINGS.find(([words]) => words.test(text))?.[1]
  if (meaning !== undefined) return meaning
  if (isSystemError(error) && !CERTIFICATE.test(error.message))
    return `cannot be reached: ${systemReason(error)}; start Redis there, or correct store.url`
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

/** A type of Redis. */
type KeyType = 'hash' | 'set' | 'stream'

/** The keys that a script needs, behind the root, with their types. Claims are not among them: what else is at their keys is replaced. */
type NeededTypes = ReadonlyMap<string, KeyType>

function neededTypes(changes: readonly StoreChange[], reads: readonly StoreRead[]): NeededTypes {
  const needed = new Map<string, KeyType>()
  for (const { kind, name } of reads) {
    if (kind === 'replicas') needed.set('beats', 'hash')
    else needed.set(`${kind}:${name}`, kind === 'log' ? 'stream' : 'hash')
  }
  for (const change of changes) for (const [key, type] of ofChange(change)) needed.set(key, type)
  return needed
}

type Shelf = Exclude<keyof Kinds, 'replicas'>

/** Where each kind of change writes. */
const SHELVES: Readonly<Record<Exclude<StoreChange['kind'], 'beat'>, Shelf>> = {
  ...{ add: 'sums', most: 'sums', least: 'sums', claim: 'sums', join: 'sums', draw: 'sums' },
  ...{ write: 'texts', mark: 'texts', log: 'log', lease: 'lease', raise: 'document' },
}

function ofChange(change: StoreChange): readonly (readonly [key: string, type: KeyType])[] {
  if (change.kind === 'beat') return [['beats', 'hash']]
  const shelf = SHELVES[change.kind]
  const place = [`${shelf}:${change.name}`, shelf === 'log' ? 'stream' : 'hash'] as const
  return change.kind === 'join' ? [place, [`members:${change.name}\0${change.field}`, 'set']] : [place]
}

const SILENT = 'did not answer in time'

/** Bytes of the name of a replica, which is all that news say. */
const LONGEST_NEWS = 100

/**
 * Makes one connection, for commands and for news, or gives up waiting after `ANSWER_MS`: it is then made in the background. It is made again
 * whenever it is lost; nothing waits for it meanwhile.
 */
async function connectRedis(address: RedisAddress, root: string, onMessage: (text: string) => void) {
  const redis = new (await loadClient())(clientOptions(address))
  const secrets = [address.username, address.password].filter((secret) => secret !== undefined && secret !== '') as string[]
  const down = (what: string, foreignKey?: string) => new StoreDown(`the store at ${address.shown} ${what}`, foreignKey)
  /** Why the last connection ended. */
  let problem: string | undefined
  let isClosed = false
  let fit: Promise<void> | undefined
  redis.on('error', (error: unknown) => {
    problem = refusalOf(error, secrets)
  })
  redis.on('connect', () => {
    fit = undefined
  })
  redis.on('ready', () => {
    problem = undefined
  })
  redis.on('close', () => {
    problem ??= 'closed the connection'
  })
  // A message of somebody else may be longer than any text.
  redis.on('messageBuffer', (_: Buffer, text: Buffer) => {
    if (text.length <= LONGEST_NEWS) onMessage(text.toString())
  })
  // ioredis gives up for good where a Sentinel names what is no address.
  redis.on('end', () => {
    setTimeout(() => {
      if (!isClosed) redis.connect().catch(() => {})
    }, PAUSE_MS).unref()
  })
  const check = async () => {
    const unfit = unfitness(await redis.info())
    if (unfit !== undefined) {
      problem = unfit
      // The Sentinels may name another one by now.
      if (address.sentinelName !== undefined) redis.disconnect(true)
      throw down(unfit)
    }
    // ioredis goes on with another database if it cannot select this one.
    if (address.database > 0) await redis.select(address.database)
    await redis.subscribe(`${root}news`)
  }
  /** Once for each connection, and again after it has failed. */
  const beFit = () => {
    fit ??= check().catch((error: unknown) => {
      fit = undefined
      throw error
    })
    return fit
  }
  await within(ANSWER_MS, () => down(SILENT), redis.connect().then(beFit)).catch(() => {})
  return {
    /** Runs a command. Rejects with a `StoreDown` at once if there is no connection, and after `withinMs` if there is no answer. */
    async ask<T>(withinMs: number, command: (redis: Redis) => Promise<T>): Promise<T> {
      if (isClosed) throw new StoreDown('the store is closed')
      if (redis.status !== 'ready') throw down(problem ?? SILENT)
      try {
        return await within(
          withinMs,
          () => down(`did not answer within ${withinMs} ms`),
          beFit().then(() => command(redis)),
        )
      } catch (error) {
        if (error instanceof StoreDown) throw error
        // The Sentinels may know another primary by now.
        if (/READONLY/.test(String(error))) redis.disconnect(true)
        throw down(redis.status === 'ready' ? refusalOf(error, secrets) : (problem ?? SILENT), foreignKeyOf(error))
      }
    },
    close() {
      isClosed = true
      redis.disconnect()
    },
  }
}

/** What a Redis says that may serve later, and one that nobody reached. */
const PASSES = / (?:cannot be reached|did not answer|closed the connection|still loads|is busy)/

/** Connects once as `openRedis` does. Returns why a Redis that answers could not be used; undefined if it could, or if nothing answers. */
export async function whyRefused(address: RedisAddress, name: string): Promise<string | undefined> {
  const connection = await connectRedis(address, rootOf(name), () => {})
  try {
    await connection.ask(ANSWER_MS, (redis) => redis.ping())
    return undefined
  } catch (error) {
    const { message } = error as Error
    return PASSES.test(message) ? undefined : `store.url: ${message}`
  } finally {
    connection.close()
  }
}

async function within<T>(ms: number, late: () => Error, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms)
  })
  try {
    return await Promise.race([promise, over])
  } finally {
    clearTimeout(timer)
  }
}

/** ioredis is an optional package: it is loaded when a URL needs it. */
async function loadClient(): Promise<typeof Redis> {
  try {
    return (await import('ioredis')).Redis
  } catch (error) {
    throw new Error('store.url names a Redis, which needs the package ioredis: npm install ioredis', { cause: error })
  }
}

type Argument = string | number

/** The arguments of `EXCHANGE_SCRIPT`. `news` is what the replica calls itself in news, and '' if there is none to tell. */
function exchangeArguments({ replica, nth, changes, reads }: Batch, news: string): readonly Argument[] {
  const claims = changes.filter((change) => change.kind === 'claim')
  const others = changes.filter((change) => change.kind !== 'claim')
  return [
    KEPT_MS,
    replica,
    nth,
    news,
    ...typeArguments(changes, reads),
    ...readArguments(reads),
    others.length,
    ...others.flatMap(changeArguments),
    ...claimArguments(claims),
  ]
}

/** Those of a script that only reads. */
function readingArguments(reads: readonly StoreRead[]): readonly Argument[] {
  return [KEPT_MS, '', 0, '', ...typeArguments([], reads), ...readArguments(reads)]
}

function typeArguments(changes: readonly StoreChange[], reads: readonly StoreRead[]): readonly Argument[] {
  const needed = neededTypes(changes, reads)
  return [needed.size, ...[...needed].flat()]
}

function readArguments(reads: readonly StoreRead[]): readonly Argument[] {
  return [reads.length, ...reads.flatMap(({ kind, name, known = '' }) => [kind, name, known])]
}

type Other = Exclude<StoreChange, Claim>

function changeArguments(change: Other): readonly Argument[] {
  const name = 'name' in change ? change.name : ''
  const keepMs = 'ms' in change ? change.ms : 'keepMs' in change ? (change.keepMs ?? KEPT_MS) : KEPT_MS
  return [change.kind, name, keepMs, ...ownArguments(change)]
}

function ownArguments(change: Other): readonly Argument[] {
  switch (change.kind) {
    case 'add':
    case 'most':
    case 'least':
      return sumArguments(change.sums)
    case 'join':
      return [change.field, change.member, change.most]
    case 'draw':
      return [change.amount, change.most]
    case 'write':
    case 'mark':
      return [change.field, change.text]
    case 'log':
      return [change.text, change.items]
    case 'raise':
      return [change.version, change.text]
    case 'beat':
      return [change.text]
    case 'lease':
      return []
  }
}

function sumArguments(sums: Sums): readonly Argument[] {
  const entries = Object.entries(sums)
  return [entries.length, ...entries.flat()]
}

/** Heads, and for each claim the number of its head, its key and its time. */
function claimArguments(claims: readonly Claim[]): readonly Argument[] {
  const heads = new Map<string, readonly Argument[]>()
  const numbers = new Map<string, number>()
  const rows = claims.flatMap(({ key, at, ms, name, first, again }) => {
    const head = [name, ms, ...sumArguments(first), ...sumArguments(again)]
    const known = JSON.stringify(head)
    if (!heads.has(known)) {
      heads.set(known, head)
      numbers.set(known, heads.size)
    }
    return [numbers.get(known) ?? 0, key, at]
  })
  return [heads.size, ...[...heads.values()].flat(), claims.length, ...rows]
}

/** A reply of the script to one read: the stamp, then texts; null if nothing is newer. */
type FoundReply = readonly (string | null)[] | null

/** Reads what `READS_SCRIPT` found. */
function readFound({ kind }: StoreRead, reply: FoundReply | undefined): StoreFound {
  if (!reply) return undefined
  const [stamp, ...texts] = reply.map((text) => text ?? '')
  return { stamp: counted(stamp), value: VALUES[kind](texts) }
}

const VALUES: { readonly [K in keyof Kinds]: (texts: readonly string[]) => Kinds[K] } = {
  sums: (texts) => Object.fromEntries(rows(texts, 2).map(([field = '', sum]) => [field, counted(sum)])),
  texts: (texts) => Object.fromEntries(rows(texts, 2).map(([field = '', text = '']) => [field, text])),
  log: (texts) => rows(texts, 3).map(([nth, replica = '', text = '']) => ({ nth: Number(nth), replica, text })),
  document: ([version, text = '']) => ({ version: Number(version), text }),
  lease: ([holder]) => holder || undefined,
  replicas: (texts) => rows(texts, 3).map(([replica = '', agoMs, text = '']) => ({ replica, text, agoMs: Number(agoMs) })),
}

/** Redis, too, takes what is no number for 0. */
function counted(text: string | undefined): number {
  const number = Number(text)
  return Math.abs(number) <= MOST_COUNTED ? number : 0
}

function rows(texts: readonly string[], size: number): readonly (readonly string[])[] {
  return Array.from({ length: texts.length / size }, (_, row) => texts.slice(row * size, (row + 1) * size))
}

/** Milliseconds for the answer to `replace`: a person waits for it. */
const REPLACE_MS = 250

type Scripts = Redis & {
  crosswalkExchange(root: string, ...texts: readonly (string | number)[]): Promise<[now: string, ...found: FoundReply[]]>
  crosswalkReplace(root: string, ...texts: readonly (string | number)[]): Promise<[result: string, version: string, text: string]>
}

/** All keys begin so, so that they share one slot, and several fleets one Redis. A user may have rights on this part alone. */
const rootOf = (name: string) => `{crosswalk:${name}}:`

/** A store in Redis. */
export async function openRedis(address: RedisAddress, name: string): Promise<Store> {
  const root = rootOf(name)
  const me = randomUUID()
  const listeners: (() => void)[] = []
  const connection = await connectRedis(address, root, (sender) => {
    if (sender !== me) for (const listener of listeners) listener()
  })
  /** What the clock of Redis shows more than the one here, in milliseconds. */
  let ahead: number | undefined
  const run = async (texts: readonly (string | number)[], reads: readonly StoreRead[]) => {
    const [now, ...found] = await connection.ask(ANSWER_MS, (redis) => (redis as Scripts).crosswalkExchange(root, ...texts))
    ahead = Number(now) / 1000 - performance.now()
    return reads.map((read, at) => readFound(read, found[at]))
  }
  return {
    async exchange(batch: Batch) {
      let found: readonly StoreFound[] = []
      for (const step of stepsOf(batch)) found = await run(exchangeArguments(step, step.isUrgent ? me : ''), step.reads)
      return found
    },
    read: async (reads) => (await Promise.all(reads.map((read) => run(readingArguments([read]), [read])))).flat(),
    async replace(document, version, text): Promise<Replaced> {
      const deadline = ahead === undefined ? '' : Math.round((performance.now() + ahead + REPLACE_MS) * 1000)
      const [result, held, inForce] = await connection.ask(REPLACE_MS, (redis) =>
        (redis as Scripts).crosswalkReplace(root, document, version, text, me, deadline),
      )
      if (result === 'late') throw new StoreDown(`the store at ${address.shown} did not answer within ${REPLACE_MS} ms`)
      return { isReplaced: result === 'replaced', document: { version: Number(held), text: inForce } }
    },
    onNews: (listener) => void listeners.push(listener),
    close: async () => connection.close(),
  }
}
