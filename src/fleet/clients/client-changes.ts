import type { StoreChange, Sums } from '../../store/store-change.ts'
import { clientNames, fieldOfParts, numberOf } from './client-names.ts'
import type { PendingUse } from './pending-uses.ts'

/**
 * Returns what one use changes in the store. `subject` is written if it is given.
 *
 * One call of the client `c` adds 1 to the field `calls c iam.roles.list v2 rest` of the sums of its number, where the parts of a field are lines.
 */
export function clientChanges(use: PendingUse, subject: string | undefined): readonly StoreChange[] {
  const { nth, caller, operation, firstSeen, lastSeen, kinds } = use
  const names = clientNames(nth, numberOf(caller))
  const field = (what: string, ...rest: readonly string[]) => fieldOfParts(what, caller, operation, ...rest)
  const counted = (what: string, counts: ReadonlyMap<string, number>) =>
    [...counts].map(([key, count]) => [field(what, key), count] as const)
  const sums: Sums = Object.fromEntries([
    ...counted('calls', use.calls),
    ...counted('samples', use.samples),
    ...counted('place', use.places),
    ...(use.mismatches > 0 ? [[field('mismatches'), use.mismatches] as const] : []),
    ...(use.otherSamples > 0 ? [[field('others'), use.otherSamples] as const] : []),
  ])
  const text = (what: 'write' | 'mark', name: string, value: string): StoreChange => {
    return { kind: what, name: names.texts, field: name, text: value }
  }
  return [
    ...(Object.keys(sums).length > 0 ? [{ kind: 'add', name: names.sums, sums } as const] : []),
    ...(use.calls.size > 0
      ? ([
          { kind: 'least', name: names.sums, sums: { [field('first')]: firstSeen } },
          { kind: 'most', name: names.sums, sums: { [field('last')]: lastSeen } },
        ] as const)
      : []),
    ...(subject === undefined ? [] : [text('write', fieldOfParts('subject', caller), subject)]),
    ...kinds.map(({ shape, ...kind }) => text('mark', field('kind', shape), JSON.stringify(kind))),
  ]
}
