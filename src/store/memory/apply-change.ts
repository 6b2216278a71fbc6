import { KEPT_MS, type LogItem } from '../store.ts'
import type { StoreChange, Sums } from '../store-change.ts'
import type { Shelf } from './shelf.ts'
import type { Shelves, StampedFields } from './shelves.ts'

/** What a change is applied to, when, and for whom. */
export interface Applying {
  readonly shelves: Shelves
  readonly replica: string
  readonly now: number
}

/** Applies one change. Redis does the same in `redis/exchange-script.ts`, and one test compares the two. */
export function applyChange(change: StoreChange, to: Applying): void {
  ;(APPLIED[change.kind] as (change: StoreChange, to: Applying) => void)(change, to)
}

/** A document of a higher version. */
export function raiseDocument(name: string, version: number, text: string, { shelves: { documents, nextStamp } }: Applying): void {
  const stamp = nextStamp(documents.get(name)?.stamp)
  documents.set(name, { value: { version, text }, stamp }, Number.POSITIVE_INFINITY)
}

type Applied = { readonly [K in StoreChange['kind']]: (change: Extract<StoreChange, { kind: K }>, to: Applying) => void }

const APPLIED: Applied = {
  add: ({ name, sums, keepMs }, to) => combine(name, sums, to, keepMs, (held, given) => held + given),
  most: ({ name, sums, keepMs }, to) => combine(name, sums, to, keepMs, (held, given) => Math.max(held, given), Number.NEGATIVE_INFINITY),
  least: ({ name, sums, keepMs }, to) => combine(name, sums, to, keepMs, (held, given) => Math.min(held, given), Number.POSITIVE_INFINITY),
  claim({ key, at, ms, name, first, again }, to) {
    const { claims } = to.shelves
    const claimed = claims.get(key)
    const isFirst = claimed === undefined || Math.abs(at - claimed) >= ms
    if (isFirst) claims.set(key, at, to.now + 2 * ms)
    combine(name, isFirst ? first : again, to, KEPT_MS, (held, given) => held + given)
  },
  join({ name, field, member, most }, to) {
    const { members, sums } = to.shelves
    const place = `${name}\0${field}`
    const held = members.get(place) ?? new Set()
    members.set(place, held, to.now + KEPT_MS)
    sums.keep(name, to.now + KEPT_MS)
    if (held.has(member) || held.size >= most) return
    held.add(member)
    combine(name, { [field]: 1 }, to, KEPT_MS, (sum, given) => sum + given)
  },
  draw({ name, amount, most, keepMs }, to) {
    const drawn = [...(to.shelves.sums.get(name)?.value.values() ?? [])].reduce((all, one) => all + one, 0)
    const granted = Math.min(amount, most - drawn)
    combine(name, granted > 0 ? { [to.replica]: granted } : {}, to, keepMs, (held, given) => held + given)
  },
  write: ({ name, field, text, keepMs }, to) => write(name, field, () => text, to, keepMs),
  mark: ({ name, field, text, keepMs }, to) => write(name, field, (held) => held ?? text, to, keepMs),
  log({ name, text, items, keepMs = KEPT_MS }, { shelves: { logs, nextStamp }, replica, now }) {
    const held: readonly LogItem[] = logs.get(name)?.value ?? []
    // A log that was lost begins again with a higher number, so that a replica that knows the lost one reads all of the new one.
    const before = held.at(-1)?.nth
    const nth = before === undefined ? nextStamp() : before + 1
    logs.set(name, { value: [...held, { nth, replica, text }].slice(-items), stamp: nth }, now + keepMs)
  },
  lease({ name, ms }, { shelves: { leases, nextStamp }, replica, now }) {
    const held = leases.get(name)
    if (held && held.value !== replica) return
    if (ms === 0) leases.delete(name)
    else leases.set(name, held ?? { value: replica, stamp: nextStamp() }, now + ms)
  },
  raise({ name, version, text }, to) {
    if (version > (to.shelves.documents.get(name)?.value.version ?? 0)) raiseDocument(name, version, text, to)
  },
  beat: ({ text, ms }, { shelves: { beats }, replica, now }) => beats.set(replica, { text, at: now }, now + ms),
}

type Combination = (held: number, given: number) => number

function combine(name: string, sums: Sums, to: Applying, keepMs: number = KEPT_MS, combination: Combination, nothing = 0): void {
  for (const [field, given] of Object.entries(sums)) {
    change(to.shelves.sums, name, field, (held = nothing) => combination(held, given), to.shelves.nextStamp)
  }
  to.shelves.sums.keep(name, to.now + keepMs)
}

function write(
  name: string,
  field: string,
  text: (held: string | undefined) => string,
  { shelves, now }: Applying,
  keepMs: number = KEPT_MS,
): void {
  change(shelves.texts, name, field, text, shelves.nextStamp)
  shelves.texts.keep(name, now + keepMs)
}

/** A value that is as it was gets no new stamp. */
function change<T>(
  shelf: Shelf<StampedFields<T>>,
  name: string,
  field: string,
  next: (held: T | undefined) => T,
  nextStamp: Shelves['nextStamp'],
): void {
  const known = shelf.get(name)
  const held = known ?? { value: new Map<string, T>(), stamp: 0 }
  if (!known) shelf.set(name, held, Number.POSITIVE_INFINITY)
  const before = held.value.get(field)
  const after = next(before)
  if (after === before) return
  held.value.set(field, after)
  held.stamp = nextStamp(held.stamp)
}
