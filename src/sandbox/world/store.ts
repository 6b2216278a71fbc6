import type {
  AccountAssociation,
  Advisory,
  AdvisoryDocument,
  Artifact,
  ArtifactVersion,
  ExternalGroupRoleMapping,
  Group,
  GroupInvite,
  Identity,
  IdentityProvider,
  Image,
  Readme,
  Repo,
  Role,
  RoleBinding,
  Row,
  Subscription,
  Tag,
  TermsAcceptance,
  VulnerabilityMetadata,
} from './model.ts'

/** The sandbox's one source of time. Tests move it instead of sleeping. */
export type Clock = Readonly<ReturnType<typeof createClock>>

type Alarm = { readonly at: number; readonly task: () => void; timer?: NodeJS.Timeout }

/** A clock over `base`: a fixed epoch in milliseconds, or a function such as `Date.now`. Only `advance` moves a fixed one. */
export const createClock = (base: number | (() => number) = Date.now) => {
  const alarms = new Set<Alarm>()
  let shift = 0
  const now = (): number => (typeof base === 'number' ? base : base()) + shift
  const drop = (alarm: Alarm): void => {
    clearTimeout(alarm.timer)
    alarms.delete(alarm)
  }
  const ring = (): void => {
    const due = [...alarms].filter(({ at }) => at <= now()).sort((left, right) => left.at - right.at)
    for (const alarm of due) {
      drop(alarm)
      alarm.task()
    }
  }
  // A timer may fire slightly early by this clock. A task that is not yet due is therefore armed again.
  const arm = (alarm: Alarm): void => {
    if (typeof base === 'number' || !alarms.has(alarm)) return
    alarm.timer = setTimeout(() => {
      ring()
      arm(alarm)
    }, alarm.at - now()).unref()
  }
  return {
    /** The current instant. */
    now: () => new Date(now()),
    /** Moves every later `now()` forward by `ms` milliseconds (the control endpoint `/-/clock`). */
    advance: (ms: number): void => {
      shift += ms
      ring()
    },
    /**
     * Runs `task` once, after the clock has moved by `ms` milliseconds, on its own or through `advance`. The returned function cancels it.
     * A waiting task does not keep the process alive.
     */
    after: (ms: number, task: () => void): (() => void) => {
      const alarm: Alarm = { at: now() + ms, task }
      alarms.add(alarm)
      arm(alarm)
      return () => drop(alarm)
    },
  }
}

/** Now as the service writes it: RFC 3339, UTC, milliseconds (specification §2). */
export const timestamp = (clock: Clock): string => clock.now().toISOString()

/** A seeded source of random bytes: one seed gives the same uids, tokens and digests in every run. Not for real secrets. */
export type Random = Readonly<ReturnType<typeof createRandom>>

/** A mulberry32 generator: 32 bits of state suffice for fixtures, and it needs no dependency. */
export const createRandom = (seed: number) => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  /** `count` pseudo-random bytes. */
  const bytes = (count: number): Uint8Array => Uint8Array.from({ length: count }, () => next() >>> 24)
  return {
    bytes,
    /** `count` pseudo-random bytes as 2 × `count` lower-case hex digits. */
    hex: (count: number) => Buffer.from(bytes(count)).toString('hex'),
    /** An integer from 0 up to, but excluding, `limit`. */
    below: (limit: number) => next() % limit,
  }
}

/** A root segment is 20 bytes of lower-case hex; every further segment is 8 bytes (semantics §1). */
const SHAPE = /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/

/** True if `text` has the form of a uid. It need not exist. */
export const validUid = (text: string): boolean => SHAPE.test(text)

/** A new uid below `parent`; an empty parent makes a root uid. */
export const newUid = (random: Random, parent = ''): string => (parent === '' ? random.hex(20) : `${parent}/${random.hex(8)}`)

/** The uid one level up; the empty string for a root uid. */
export const parentOf = (uid: string): string => uid.slice(0, Math.max(0, uid.lastIndexOf('/')))

/** The first segment: the organization, user identity or built-in role at the top. */
export const rootOf = (uid: string): string => uid.split('/', 1)[0] ?? ''

/** True if `uid` is a root uid. */
export const inRoot = (uid: string): boolean => !uid.includes('/')

/** True if `uid` lies strictly below `ancestor`. */
export const isBelow = (ancestor: string, uid: string): boolean => uid.startsWith(`${ancestor}/`)

/** True if `ancestor` is `uid` itself or lies above it. */
export const isAtOrBelow = (ancestor: string, uid: string): boolean => uid === ancestor || isBelow(ancestor, uid)

/** `uid` and everything above it, nearest first: `a/b/c` → `a/b/c`, `a/b`, `a`. */
export const lineage = (uid: string): readonly string[] => {
  const chain: string[] = []
  for (let at = uid; at !== ''; at = parentOf(at)) chain.push(at)
  return chain
}

/**
 * The index behind `named`: uids by parent and name. It is built on the first search and then kept, so that a sandbox starts quickly.
 * A uid cannot contain a line break, so it can separate the two.
 */
const createNames = <R extends Row>(rows: ReadonlyMap<string, R>) => {
  let uids: Map<string, Set<string>> | undefined
  const keyOf = (row: R): string => `${parentOf(row.uid)}\n${'name' in row ? row.name : ''}`
  const enter = (index: Map<string, Set<string>>, row: R): void => {
    const key = keyOf(row)
    const found = index.get(key)
    if (found) found.add(row.uid)
    else index.set(key, new Set([row.uid]))
  }
  const read = (): ReadonlyMap<string, ReadonlySet<string>> => {
    if (uids) return uids
    uids = new Map()
    for (const row of rows.values()) enter(uids, row)
    return uids
  }
  return {
    add: (row: R): void => {
      if (uids) enter(uids, row)
    },
    remove: (row: R): void => {
      const key = keyOf(row)
      const found = uids?.get(key)
      found?.delete(row.uid)
      if (found?.size === 0) uids?.delete(key)
    },
    find: (parent: string, name: string) => [...(read().get(`${parent}\n${name}`) ?? [])].sort(),
  }
}

/** One collection: rows by uid, with the sort orders and indexes that the API needs. Rows are never changed in place: `put` a new one. */
export type Table<R extends Row> = {
  readonly get: (uid: string) => R | undefined
  readonly put: (row: R) => void
  /** Removes a row; false when there was none. */
  readonly delete: (uid: string) => boolean
  readonly size: () => number
  /** The number of writes. Equal numbers mean that nothing changed in between. */
  readonly revision: () => number
  /** Every row, uid ascending (bytewise). */
  readonly values: () => readonly R[]
  /** The rows strictly below `ancestor`, at any depth, uid ascending. */
  readonly below: (ancestor: string) => readonly R[]
  /** The rows whose parent is `parent`, uid ascending; `''` gives the root rows. */
  readonly children: (parent: string) => readonly R[]
  /** The children of `parent` called `name`. An index makes this cheap with 100,000 siblings. */
  readonly named: (parent: string, name: string) => readonly R[]
  /** `make()`, remembered under `key` until the next `put` or `delete`. So a page of a long list need not filter the list again. */
  readonly derived: <T>(key: string, make: () => T) => T
}

/** Walking several lists at once needs a few results. More would only hold memory. */
const DERIVED_LIMIT = 32

const lowerBound = (uids: readonly string[], wanted: string): number => {
  let low = 0
  let high = uids.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (uids[middle]! < wanted) low = middle + 1
    else high = middle
  }
  return low
}

/** The order of uids. It is built on the first read and then kept by insertion, so that loading many rows does not sort repeatedly. */
const createOrder = (rows: ReadonlyMap<string, unknown>) => {
  let uids: string[] | undefined
  const read = (): readonly string[] => {
    uids ??= [...rows.keys()].sort()
    return uids
  }
  return {
    read,
    added: (uid: string) => uids?.splice(lowerBound(uids, uid), 0, uid),
    removed: (uid: string) => uids?.splice(lowerBound(uids, uid), 1),
  }
}

const createMemo = () => {
  const kept = new Map<string, unknown>()
  let writes = 0
  return {
    clear: () => {
      writes += 1
      kept.clear()
    },
    revision: () => writes,
    derived: <T>(key: string, make: () => T): T => {
      if (!kept.has(key)) {
        if (kept.size >= DERIVED_LIMIT) kept.clear()
        kept.set(key, make())
      }
      return kept.get(key) as T
    },
  }
}

/** The state that the parts of a table share. */
const createParts = <R extends Row>() => {
  const rows = new Map<string, R>()
  return { rows, order: createOrder(rows), names: createNames(rows), memo: createMemo() }
}

type Parts<R extends Row> = ReturnType<typeof createParts<R>>

const createWrites = <R extends Row>({ rows, order, names, memo }: Parts<R>): Pick<Table<R>, 'put' | 'delete'> => ({
  put: (row) => {
    const previous = rows.get(row.uid)
    if (previous) names.remove(previous)
    else order.added(row.uid)
    rows.set(row.uid, row)
    names.add(row)
    memo.clear()
  },
  delete: (uid) => {
    const previous = rows.get(uid)
    if (!previous) return false
    names.remove(previous)
    order.removed(uid)
    rows.delete(uid)
    memo.clear()
    return true
  },
})

/** An empty table. */
export const createTable = <R extends Row>(): Table<R> => {
  const parts = createParts<R>()
  const { rows, order, names, memo } = parts
  const take = (uids: readonly string[]): readonly R[] => uids.map((uid) => rows.get(uid)!)
  const values = (): readonly R[] => memo.derived('\nvalues', () => take(order.read()))
  const below = (ancestor: string): readonly R[] => {
    // '0' follows '/' in ASCII, so everything below an ancestor is one run of the sorted uids.
    const uids = order.read()
    return take(uids.slice(lowerBound(uids, `${ancestor}/`), lowerBound(uids, `${ancestor}0`)))
  }
  return {
    ...createWrites(parts),
    get: (uid) => rows.get(uid),
    size: () => rows.size,
    revision: memo.revision,
    values,
    below,
    children: (parent) => (parent === '' ? values() : below(parent)).filter((row) => parentOf(row.uid) === parent),
    named: (parent, name) => take(names.find(parent, name)),
    derived: memo.derived,
  }
}

/** An empty store with every collection of the service. v2 and genuine v1 share one. */
export const createStore = () => ({
  groups: createTable<Group>(),
  identities: createTable<Identity>(),
  identityProviders: createTable<IdentityProvider>(),
  roles: createTable<Role>(),
  roleBindings: createTable<RoleBinding>(),
  groupInvites: createTable<GroupInvite>(),
  accountAssociations: createTable<AccountAssociation>(),
  externalGroupRoleMappings: createTable<ExternalGroupRoleMapping>(),
  termsAcceptances: createTable<TermsAcceptance>(),
  repos: createTable<Repo>(),
  readmes: createTable<Readme>(),
  tags: createTable<Tag>(),
  images: createTable<Image>(),
  advisories: createTable<Advisory>(),
  documents: createTable<AdvisoryDocument>(),
  vulnerabilityMetadata: createTable<VulnerabilityMetadata>(),
  artifacts: createTable<Artifact>(),
  artifactVersions: createTable<ArtifactVersion>(),
  subscriptions: createTable<Subscription>(),
})

export type Store = Readonly<ReturnType<typeof createStore>>

/** The number of writes to the whole store. */
export const revisionOf = (store: Store): number => Object.values(store).reduce((sum, table) => sum + table.revision(), 0)

/** The options of one sandbox. They do not change while it runs. */
export type WorldOptions = {
  /** The member names that genuine v1 writes. */
  readonly v1Dialect: 'specification' | 'published'
  /** The suffix of error domains and resource types: `iam.<serviceDomain>` (specification §7). */
  readonly serviceDomain: string
  /** Subscriptions on this machine may have plain-HTTP sinks. By default v2 accepts only https (semantics §3.16). */
  readonly allowHttpSinks?: boolean | undefined
  /** A change of a readme in v2 moves the update time of its repo. No source promises this. */
  readonly readmeMovesRepo?: boolean | undefined
}

/** The identity and the rights of a fixed bearer token. */
export type DemoToken = {
  /** The identity of the token. */
  readonly identityUid: string
  /** Every capability at every group, internal ones included: the token of the service's own staff. */
  readonly everything?: true
}

/** Everything a handler may use. Handlers keep no state of their own. */
export type World = {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly options: WorldOptions
  /** Bearer token → its identity and rights. */
  readonly tokens: ReadonlyMap<string, DemoToken>
  /** The server's own address without a trailing slash, e.g. `http://127.0.0.1:8090`. It is known once the server listens. */
  readonly baseUrl: () => string
  /** Signs page tokens. */
  readonly pageKey: string
}
