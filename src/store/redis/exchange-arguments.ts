import { type Batch, KEPT_MS, type StoreRead } from '../store.ts'
import type { Claim, StoreChange, Sums } from '../store-change.ts'
import { neededTypes } from './needed-types.ts'

type Argument = string | number

/** The arguments of `EXCHANGE_SCRIPT`. `news` is what the replica calls itself in news, and '' if there is none to tell. */
export function exchangeArguments({ replica, nth, changes, reads }: Batch, news: string): readonly Argument[] {
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
export function readingArguments(reads: readonly StoreRead[]): readonly Argument[] {
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
