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

/** The rows of each key, in their order. */
export const groupBy = <R>(rows: Iterable<R>, keyOf: (row: R) => string): ReadonlyMap<string, readonly R[]> => {
  const groups = new Map<string, R[]>()
  for (const row of rows) {
    const key = keyOf(row)
    const group = groups.get(key)
    if (group) group.push(row)
    else groups.set(key, [row])
  }
  return groups
}

/** Walking several lists at once needs a few results. More would only hold memory. */
const DERIVED_LIMIT = 32

/** The index of the first of `count` sorted elements that is not before the wanted one. */
export const bisect = (count: number, isBefore: (index: number) => boolean): number => {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(middle)) low = middle + 1
    else high = middle
  }
  return low
}

const lowerBound = (uids: readonly string[], wanted: string): number => bisect(uids.length, (index) => uids[index]! < wanted)

/** A uid cannot contain a line break, so it can separate the two. */
const nameKey = (row: Row): string => `${parentOf(row.uid)}\n${'name' in row ? row.name : ''}`

/** One collection: rows by uid, with the sort orders and indexes that the API needs. Rows are never changed in place: `put` a new one. */
export class Table<R extends Row> {
  readonly #rows = new Map<string, R>()
  /** The uids in order. They are sorted on the first read and then kept by insertion, so that loading many rows does not sort repeatedly. */
  #order: string[] | undefined
  /** Uids by parent and name. They are entered on the first search and then kept, so that a sandbox starts quickly. */
  #names: Map<string, Set<string>> | undefined
  readonly #derived = new Map<string, unknown>()
  #writes = 0

  get(uid: string): R | undefined {
    return this.#rows.get(uid)
  }

  put(row: R): void {
    const previous = this.#rows.get(row.uid)
    if (previous) this.#unname(previous)
    else this.#order?.splice(lowerBound(this.#order, row.uid), 0, row.uid)
    this.#rows.set(row.uid, row)
    if (this.#names) this.#name(this.#names, row)
    this.#written()
  }

  /** Removes a row; false when there was none. */
  delete(uid: string): boolean {
    const previous = this.#rows.get(uid)
    if (!previous) return false
    this.#unname(previous)
    this.#order?.splice(lowerBound(this.#order, uid), 1)
    this.#rows.delete(uid)
    this.#written()
    return true
  }

  size(): number {
    return this.#rows.size
  }

  /** The number of writes. Equal numbers mean that nothing changed in between. */
  revision(): number {
    return this.#writes
  }

  /** Every row, uid ascending (bytewise). */
  values(): readonly R[] {
    return this.derived('\nvalues', () => this.#take(this.#sorted()))
  }

  /** The rows strictly below `ancestor`, at any depth, uid ascending. */
  below(ancestor: string): readonly R[] {
    // '0' follows '/' in ASCII, so everything below an ancestor is one run of the sorted uids.
    const uids = this.#sorted()
    return this.#take(uids.slice(lowerBound(uids, `${ancestor}/`), lowerBound(uids, `${ancestor}0`)))
  }

  /** The rows whose parent is `parent`, uid ascending; `''` gives the root rows. */
  children(parent: string): readonly R[] {
    return (parent === '' ? this.values() : this.below(parent)).filter((row) => parentOf(row.uid) === parent)
  }

  /** The children of `parent` called `name`. An index makes this cheap with 100,000 siblings. */
  named(parent: string, name: string): readonly R[] {
    if (!this.#names) {
      this.#names = new Map()
      for (const row of this.#rows.values()) this.#name(this.#names, row)
    }
    return this.#take([...(this.#names.get(`${parent}\n${name}`) ?? [])].sort())
  }

  /** `make()`, remembered under `key` until the next `put` or `delete`. So a page of a long list need not filter the list again. */
  derived<T>(key: string, make: () => T): T {
    if (!this.#derived.has(key)) {
      if (this.#derived.size >= DERIVED_LIMIT) this.#derived.clear()
      this.#derived.set(key, make())
    }
    return this.#derived.get(key) as T
  }

  #take(uids: readonly string[]): readonly R[] {
    return uids.map((uid) => this.#rows.get(uid)!)
  }

  #sorted(): readonly string[] {
    this.#order ??= [...this.#rows.keys()].sort()
    return this.#order
  }

  #name(names: Map<string, Set<string>>, row: R): void {
    const key = nameKey(row)
    names.set(key, (names.get(key) ?? new Set()).add(row.uid))
  }

  #unname(row: R): void {
    const found = this.#names?.get(nameKey(row))
    found?.delete(row.uid)
    if (found?.size === 0) this.#names?.delete(nameKey(row))
  }

  #written(): void {
    this.#writes += 1
    this.#derived.clear()
  }
}

/** An empty store with every collection of the service. v2 and genuine v1 share one. */
export const createStore = () => ({
  groups: new Table<Group>(),
  identities: new Table<Identity>(),
  identityProviders: new Table<IdentityProvider>(),
  roles: new Table<Role>(),
  roleBindings: new Table<RoleBinding>(),
  groupInvites: new Table<GroupInvite>(),
  accountAssociations: new Table<AccountAssociation>(),
  externalGroupRoleMappings: new Table<ExternalGroupRoleMapping>(),
  termsAcceptances: new Table<TermsAcceptance>(),
  repos: new Table<Repo>(),
  readmes: new Table<Readme>(),
  tags: new Table<Tag>(),
  images: new Table<Image>(),
  advisories: new Table<Advisory>(),
  documents: new Table<AdvisoryDocument>(),
  vulnerabilityMetadata: new Table<VulnerabilityMetadata>(),
  artifacts: new Table<Artifact>(),
  artifactVersions: new Table<ArtifactVersion>(),
  subscriptions: new Table<Subscription>(),
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
