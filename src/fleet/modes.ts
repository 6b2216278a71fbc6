import { createHash } from 'node:crypto'
import { z } from 'zod'
import { systemReason } from '../errors.ts'
import type { Modes, SharedModes } from '../migrate/modes/modes.ts'
import { describeRules, type ModeRules, readModeRules } from '../migrate/modes/rules.ts'
import { actorSchema } from '../migrate/records/read-entry.ts'
import { type Actor, describeActor, type Note } from '../migrate/records/record.ts'
import type { Epochs } from './epochs.ts'
import { atMost, type BeatText, type FleetClocks, type FleetReplica, pause, reading, readText, type UnreadReplica } from './exchange.ts'
import type { Fleet, FleetState } from './fleet.ts'
import { openAtomicFile } from './store/saved.ts'
import type { Document, StoreChange } from './store/store.ts'

/** The document of this name in the store holds the modes of all replicas. */
export const MODES = 'modes'

const documentSchema = z.object({
  rules: z.unknown(),
  by: actorSchema,
  at: z.number(),
  /** The digest of the modes that a configuration file proposed last. No replica proposes the same ones again. */
  file: z.string().optional(),
})

/** What a document of modes says. */
interface ReadModes {
  readonly shared: SharedModes
  readonly file: string | undefined
}

/** Writes the text of a document. Members have one order, so that the same rules of the same person at the same time are the same text. */
function modesText({ rules, by, at }: Pick<SharedModes, 'rules' | 'by' | 'at'>, file: string | undefined): string {
  return JSON.stringify({ rules, by, at, file })
}

/** Reads a document, or says in one sentence why this version of Crosswalk cannot. */
function readModesDocument(document: Document): ReadModes | { readonly problem: string } {
  const read = readText(documentSchema, document.text)
  if (!read) return { problem: 'The modes have another form.' }
  const { by, at, file } = read
  const rules = readModeRules(read.rules)
  return 'problem' in rules ? rules : { shared: { rules, version: document.version, tag: tagOf(document), by, at }, file }
}

/** The entity tag, alike on all replicas. The hash tells two documents of one version apart, which a store that lost writes can hold. */
export function tagOf({ version, text }: Document): string {
  return `${version}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`
}

/** The digest of the modes that a configuration file proposes. */
function digestOf(rules: ModeRules): string {
  return createHash('sha256').update(JSON.stringify(rules)).digest('hex').slice(0, 12)
}

/** Modes of the store that this version of Crosswalk cannot read, and a sentence that says why. */
export interface UnreadModes extends Document {
  readonly problem: string
}

/** Says what the store holds, and what to do. It completes "This replica does not know the modes: …". */
export function unreadText({ version, problem }: Pick<UnreadModes, 'version' | 'problem'>): string {
  const why = problem.replace(/\.$/, '')
  return `the store holds modes of version ${version} that another version of Crosswalk wrote, and this one cannot read them (${why}); run that version here too, or replace the modes with PUT /modes and If-Match: *`
}

/** What became of the modes of the file. `again`: they were proposed before, and are not proposed again. */
type Proposed = 'again' | { readonly version: number } | { readonly problem: string }

type FileWish = ReturnType<typeof createFileWish>

/** The modes of the changed configuration file, until the store has them. */
function createFileWish(proposed: (end: Proposed) => void) {
  let wish: ReturnType<FileWish['current']>
  const missed = (unread: UnreadModes) => {
    if (wish) proposed({ problem: unreadText(unread) })
  }
  return {
    /** What is to be proposed; undefined if nothing is. */
    current: (): { readonly rules: ModeRules; readonly by: Actor } | undefined => wish,
    /** Takes the modes of a file, of which the newest that was proposed has a digest. Returns true if they are to be proposed. */
    make(rules: ModeRules, by: Actor, newest: string | undefined, unread: UnreadModes | undefined) {
      wish = digestOf(rules) === newest ? undefined : { rules, by }
      if (!wish) proposed('again')
      if (unread) missed(unread)
      return wish !== undefined
    },
    /** Modes are in force that a file with this digest, or none, proposed last. */
    adopted(newest: string | undefined, version: number) {
      if (!wish || digestOf(wish.rules) !== newest) return
      wish = undefined
      proposed({ version })
    },
    /** This version of Crosswalk cannot read the modes in the store, and does not replace them. */
    missed,
  }
}

export interface KeptModes {
  readonly document: Document
  /** Why each open circuit opened, by operation. */
  readonly open: Readonly<Record<string, string>>
  /** The epoch to which evidence belongs. Older versions kept none. */
  readonly epoch?: Document | undefined
}

const keptDocument = z.object({ version: z.number().int().positive(), text: z.string() })

const keptSchema = z.object({
  document: keptDocument,
  open: z.record(z.string(), z.string()),
  epoch: keptDocument.optional(),
})

/**
 * Keeps the last known modes, the open circuits and the epoch in a file, for a start while the store does not answer.
 * `warn` is given a sentence if the file cannot be read or written.
 */
export function createModesCache(path: string, now: () => KeptModes, warn: (text: string) => void) {
  const opened = openAtomicFile(path)
  const failed = (error: Error) => warn(`store.cache (${path}) cannot be kept: ${systemReason(error)}.`)
  let isNew = false
  let writing: Promise<void> | undefined
  const write = async () => {
    while (isNew) {
      isNew = false
      await opened.then(({ write }) => write(JSON.stringify(now()))).catch(failed)
    }
    writing = undefined
  }
  return {
    /** Reads what an earlier process kept; undefined if there is nothing. */
    async read(): Promise<KeptModes | undefined> {
      const { text } = await opened.catch((error: Error) => {
        failed(error)
        return { text: undefined }
      })
      const kept = text === undefined ? undefined : readText(keptSchema, text)
      if (text !== undefined && !kept) warn(`store.cache (${path}) is not a file that Crosswalk wrote, so no modes are known from it.`)
      return kept
    },
    /** Keeps what is known now, as soon as what is being written is written. */
    keep() {
      isNew = true
      writing ??= write()
    },
    /** Resolves when everything is written. */
    close: async () => await writing,
  }
}

/** Two modes of one version: a store that lost writes, or two sides of a partition, gave it twice. */
export interface ModesConflict {
  readonly own: Document
  readonly stored: Document
  /** Those of this replica lost. The others get a new version. */
  readonly isLost: boolean
}

/** Tells a conflict as a note. The subjects of clients are told only if they may be shown. */
export function conflictNote(
  { own, stored, isLost }: ModesConflict,
  subjects: boolean,
): Pick<Note, 'what' | 'text' | 'from' | 'to' | 'version'> {
  const [lost, won] = (isLost ? [own, stored] : [stored, own]).map((document) => describe(document, subjects)) as [Described, Described]
  const end = isLost ? 'those of the store win on all replicas' : `those of this replica win on all replicas, as version ${own.version + 1}`
  const text = `the store and this replica had different modes of version ${own.version}, ${end}: what was put by ${lost.by} is lost`
  return { what: 'conflict', text, from: lost.rules, to: won.rules, version: own.version }
}

interface Described {
  readonly by: string
  readonly rules: string
}

function describe(document: Document, subjects: boolean): Described {
  const read = readModesDocument(document)
  if ('problem' in read) return { by: 'another version of Crosswalk', rules: 'modes of another version of Crosswalk' }
  return { by: describeActor(read.shared.by), rules: describeRules(read.shared.rules, subjects) }
}

interface ModesPartSettings {
  readonly modes: Pick<Modes, 'adopt' | 'state'>
  /** What is proposed if the store has no modes. */
  readonly first: { readonly rules: ModeRules; readonly by: Actor }
  readonly now: () => number
  /** Another exchange is due at once: something is to be sent, or other modes are in force. */
  readonly wake: () => void
  readonly events: ModesEvents
}

/** Is told what happens to the modes of this replica. */
interface ModesEvents {
  adopted(document: Document): void
  /** This version of Crosswalk cannot read the modes in the store. `isKnown`: earlier ones stay in force. */
  unreadable(unread: UnreadModes, isKnown: boolean): void
  /** The store and this replica had different modes of one version. */
  differed(conflict: ModesConflict): void
  /** What became of the modes that the configuration file proposed. */
  proposed(end: Proposed): void
}

type ModesPart = ReturnType<typeof createModesPart>

/**
 * Keeps the modes of this replica those of the store. Versions only go up: a store that lost the newest version gets it back from any
 * replica that knows it. Of two documents of one version, all replicas choose the same.
 */
export function createModesPart({ modes, first, now, wake, events }: ModesPartSettings) {
  let known: Document = { version: 0, text: '' }
  let fileDigest: string | undefined
  /** The store has an older document, or none. */
  let raised: Document | undefined
  let isFirst = false
  const wish = createFileWish(events.proposed)
  let unread: UnreadModes | undefined
  const own = new Set<string>()

  const adopt = (document: Document) => {
    const read = readModesDocument(document)
    if ('problem' in read) {
      unread = { ...document, ...read }
      events.unreadable(unread, known.version > 0)
      return wish.missed(unread)
    }
    unread = undefined
    known = document
    fileDigest = read.file
    wish.adopted(fileDigest, known.version)
    modes.adopt(read.shared, own.has(document.text))
    own.clear()
    events.adopted(document)
    wake()
  }
  const next = (rules: ModeRules, by: Actor, file = fileDigest) => {
    const text = modesText({ rules, by, at: now() }, file)
    own.add(text)
    return text
  }
  const choose = (document: Document) => {
    const isLost = tagOf(document) > tagOf(known)
    events.differed({ own: known, stored: document, isLost })
    if (isLost) return adopt(document)
    raised = { version: known.version + 1, text: known.text }
    adopt(raised)
  }
  const take = (document: Document) => {
    // The store has lost them.
    if (unread && document.version < unread.version) unread = undefined
    isFirst = document.version === 0 && known.version === 0
    if (document.version > known.version) adopt(document)
    else if (document.version < known.version) raised = known
    else if (document.text !== known.text) choose(document)
    if (raised || isFirst) wake()
  }
  const proposal = (): Document | undefined => {
    if (raised) return raised
    if (isFirst) return { version: 1, text: modesText({ ...first, at: modes.state().at }, digestOf(first.rules)) }
    const wished = wish.current()
    if (!wished || known.version === 0 || unread) return undefined
    return { version: known.version + 1, text: next(wished.rules, wished.by, digestOf(wished.rules)) }
  }
  const documents = reading('document', MODES, take)
  return {
    changes(): readonly StoreChange[] {
      const proposed = proposal()
      raised = undefined
      isFirst = false
      return proposed ? [{ kind: 'raise', name: MODES, ...proposed }] : []
    },
    readings: () => [documents],
    /** The newest document that this replica knows; version 0: none. */
    known: () => known,
    /** The modes of the store, if this version of Crosswalk cannot read them. */
    unread: () => unread,
    /** The text of a document that follows the known one. This replica notes it once it is in force. */
    next,
    /** Takes what the store holds. */
    take,
    /** Puts a document in force that the store does not have yet, and proposes it as soon as the store answers. */
    force(document: Document) {
      adopt(document)
      raised = document
    },
    /** Proposes the modes of the changed configuration file, unless another replica has proposed the same. */
    propose(rules: ModeRules, by: Actor) {
      if (wish.make(rules, by, fileDigest, unread)) wake()
    },
  }
}

/**
 * `down`: the store does not answer. `late`: it does, and took `tookMs` for its last answer. `up`: it does, so this replica may not change
 * alone. `overtaken`: other modes are in force.
 */
export type PutEnd =
  | { readonly end: 'down' | 'up' | 'overtaken' }
  | { readonly end: 'late'; readonly tookMs: number }
  | ({ readonly end: 'put' } & Obedience)

/** The replicas that have the new modes in force, and the others. */
export interface Obedience {
  readonly obeyed: readonly string[]
  readonly missing: readonly { readonly id: string; readonly seenMs: number }[]
}

interface PutParts {
  readonly fleet: Pick<Fleet, 'store' | 'turn' | 'readReplicas' | 'replicas' | 'unread' | 'state'>
  readonly part: Pick<ModesPart, 'known' | 'unread' | 'next' | 'take' | 'force'>
  readonly modes: Pick<Modes, 'state'>
  readonly clocks: FleetClocks
}

/** The longest that the store may take, in milliseconds. A person who changes modes must know soon whether they changed. */
export const STORE_MS = 250

/** The longest that the other replicas may take, in milliseconds. */
const OBEY_MS = 1000

/** Milliseconds between two looks at the heartbeats. */
const LOOK_MS = 5

const DOWN = { end: 'down' } as const

export type PutModes = ReturnType<typeof createPutModes>

/** Changes the modes of all replicas, or of this one alone. */
export function createPutModes({ fleet, part, modes, clocks }: PutParts) {
  /** Modes that another version of Crosswalk wrote have a tag too, and may be replaced. */
  const tagInForce = () => {
    const unread = part.unread()
    return unread ? tagOf(unread) : modes.state().tag
  }
  const newest = () => part.unread() ?? part.known()
  const attempt = async (rules: ModeRules, by: Actor, isExpected: (tag: string) => boolean): Promise<PutEnd | number> => {
    for (const until = clocks.ticks() + STORE_MS; clocks.ticks() < until; ) {
      // Somebody may have been faster at another replica, and this one has not heard of it.
      if (!isExpected(tagInForce()) || newest().version === 0) {
        if (!(await fleet.turn())) return DOWN
        if (!isExpected(tagInForce())) return { end: 'overtaken' }
        // Somebody was told by now that nothing changed.
        if (clocks.ticks() >= until) return DOWN
      }
      const { version } = newest()
      const { isReplaced, document } = await fleet.store.replace(MODES, version, part.next(rules, by))
      part.take(document)
      if (isReplaced) return document.version
      // A store that came back older gets the known document first.
      if (newest().version === version && !(await fleet.turn())) return DOWN
    }
    return DOWN
  }
  const obeyed = async (version: number): Promise<Obedience> => {
    for (const until = clocks.ticks() + OBEY_MS; ; await pause(LOOK_MS, clocks)) {
      const replicas = await atMost(fleet.readReplicas(), fleet.replicas(), STORE_MS, clocks).catch(() => fleet.replicas())
      const found = obedience(replicas, fleet.unread(), version)
      if (clocks.ticks() >= until || !replicas.some(({ id, isLive }) => isLive && found.missing.some((one) => one.id === id))) return found
    }
  }
  return {
    /** Puts rules in force everywhere, if the entity tag in force is one that is expected. */
    async put(rules: ModeRules, by: Actor, isExpected: (tag: string) => boolean): Promise<PutEnd> {
      const end = await atMost(
        attempt(rules, by, isExpected).catch(() => DOWN),
        DOWN,
        STORE_MS,
        clocks,
      )
      if (typeof end === 'number') return { end: 'put', ...(await obeyed(end)) }
      return end === DOWN ? lateOr(fleet.state()) : end
    },
    /** Puts rules in force on this replica while the store does not answer. They are proposed to all as soon as it does. */
    async putHere(rules: ModeRules, by: Actor): Promise<PutEnd> {
      if (await atMost(fleet.turn(), false, STORE_MS, clocks)) return { end: 'up' }
      const version = part.known().version + 1
      part.force({ version, text: part.next(rules, by) })
      return { end: 'put', ...obedience(fleet.replicas(), fleet.unread(), version) }
    },
  }
}

/** A store that answers exchanges is there, and answered a change too late. */
function lateOr({ problem, tookMs = 0 }: Pick<FleetState, 'problem' | 'tookMs'>): PutEnd {
  return problem === undefined && tookMs > STORE_MS ? { end: 'late', tookMs } : DOWN
}

/** A replica whose heartbeat cannot be read may have obeyed; nobody knows. */
function obedience(replicas: readonly FleetReplica[], unread: readonly UnreadReplica[], version: number): Obedience {
  const has = (one: FleetReplica) => one.isSelf || one.version >= version
  return {
    obeyed: replicas.filter(has).map(({ id }) => id),
    missing: [...replicas.filter((one) => !has(one)), ...unread].map(({ id, seenMs }) => ({ id, seenMs: Math.round(seenMs) })),
  }
}

interface ShareModesParts {
  readonly fleet: Fleet
  readonly modes: Pick<Modes, 'adopt' | 'check' | 'configure' | 'state' | 'hold' | 'refuse'>
  /** Open circuits by operation, described in a line each; and how to open one again by that line. */
  readonly openCircuits: () => Readonly<Record<string, string>>
  readonly reopen: (operation: string, described: string) => void
  /** The epoch, which is known by the time of the start. */
  readonly epochs: () => Pick<Epochs, 'document' | 'take'>
  /** Calls a listener when a circuit opens or closes. */
  readonly onTurn: (listener: () => void) => void
  readonly first: { readonly rules: ModeRules; readonly by: Actor }
  /** The path of the cache, if there is one. */
  readonly cache: string | undefined
  /** What the supervisor of this process knew, in place of a cache. */
  readonly given: KeptModes | undefined
  /** Milliseconds of silence after which canaries get no v2; 0 = never. */
  readonly leaseMs: number
  readonly clocks: FleetClocks
  readonly events: Omit<ModesEvents, 'adopted'> & { held(isHeld: boolean): void; cached(version: number): void; unknown(why: string): void }
  readonly warn: (text: string) => void
}

/** Milliseconds between two looks at the lease. */
const SHARE_LOOK_MS = 100

/** The longest wait for the answer that a store without modes has taken the first ones, in milliseconds. */
const FIRST_MS = 1000

const UNKNOWN = 'this replica does not know the modes: the store does not answer, and store.cache has none'

export type ShareModes = ReturnType<typeof shareModes>

/** The modes of a replica as those of its fleet. */
export function shareModes({ fleet, modes, clocks, events, ...parts }: ShareModesParts) {
  const { openCircuits, leaseMs } = parts
  const now = (): KeptModes => ({ document: part.known(), open: openCircuits(), epoch: parts.epochs().document() })
  const cache = parts.cache === undefined ? undefined : createModesCache(parts.cache, now, parts.warn)
  const keep = () => {
    if (part.known().version > 0) cache?.keep()
  }
  const unknown = () => {
    if (part.known().version > 0) return undefined
    const unread = part.unread()
    return unread ? `this replica does not know the modes: ${unreadText(unread)}` : UNKNOWN
  }
  const refuse = () => {
    const why = unknown()
    if (why !== undefined) modes.refuse(why)
  }
  const unreadable: ModesEvents['unreadable'] = (...unread) => {
    refuse()
    events.unreadable(...unread)
  }
  const partEvents = { ...events, adopted: keep, unreadable }
  const part = createModesPart({ modes, first: parts.first, now: clocks.now, wake: fleet.now, events: partEvents })
  parts.onTurn(keep)
  fleet.add(part)
  let isHeld = false
  const look = () => {
    const { heardAt = Number.NEGATIVE_INFINITY } = fleet.state()
    const isLate = clocks.ticks() - heardAt > leaseMs
    if (isLate === isHeld) return
    isHeld = isLate
    modes.hold(isHeld)
    events.held(isHeld)
  }
  let end = () => {}
  const hasAnswered = () => fleet.state().heardAt !== undefined
  return {
    ...createPutModes({ fleet, part, modes, clocks }),
    /** Starts the fleet and puts its modes in force. Without a store, the last known ones: `given` or of `cache`; without those, none are known. */
    async start() {
      const kept = parts.given ?? (await cache?.read())
      if (kept) part.take(kept.document)
      // What is seen before the store answers belongs to it.
      if (kept?.epoch) parts.epochs().take(kept.epoch)
      for (const [operation, described] of Object.entries(kept?.open ?? {})) parts.reopen(operation, described)
      await fleet.start()
      // A store without modes takes those of the file with the second exchange.
      if (hasAnswered() && part.known().version === 0) await atMost(fleet.turn(), false, FIRST_MS, clocks)
      refuse()
      if (part.known().version > 0 && !hasAnswered()) events.cached(part.known().version)
      else if (part.known().version === 0 && !part.unread()) events.unknown(UNKNOWN)
      if (leaseMs > 0) end = clocks.repeat(look, SHARE_LOOK_MS)
      if (leaseMs > 0) look()
    },
    /** Proposes the modes of the changed configuration file to all replicas. Returns a sentence if this one could not follow them. */
    change(rules: ModeRules, by: Actor): string | undefined {
      const checked = modes.check(rules)
      if ('problem' in checked) return checked.problem
      modes.configure(checked)
      part.propose(checked, by)
      const { problem } = fleet.state()
      if (problem !== undefined) events.proposed({ problem: `${problem}; they are proposed as soon as it answers` })
      return undefined
    },
    /** Keeps in the cache what is known by now. */
    keep,
    /** Whether any modes are known: of the store, or of the cache while the store has not answered since the start. */
    known: (): 'store' | 'cache' | 'none' => (part.known().version === 0 ? 'none' : hasAnswered() ? 'store' : 'cache'),
    /** Why no modes are known, in a sentence; undefined if some are. */
    unknown,
    /** The modes of the store, if this version of Crosswalk cannot read them. */
    unread: part.unread,
    /** What a heartbeat says of the modes in force: version 0 if none are known. */
    said(): Pick<BeatText, 'version' | 'tag' | 'unread'> {
      const { version, tag } = modes.state()
      const newer = part.unread()?.version
      return { version: part.known().version === 0 ? 0 : version, tag, ...(newer !== undefined && { unread: newer }) }
    },
    /** What another process of this machine can start with; undefined if no modes are known. */
    kept: (): KeptModes | undefined => (part.known().version === 0 ? undefined : now()),
    /** True while no canary gets v2, because the store was silent for longer than the lease. */
    isHeld: () => isHeld,
    async close() {
      end()
      await cache?.close()
    },
  }
}
