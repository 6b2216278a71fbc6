import type { Operation } from '../tables/operation.ts'
import type { AsyncFunction, CompareOptions } from './compare-options.ts'

/** Two functions that are compared. */
export interface FunctionPair {
  readonly operation: Operation
  readonly legacy: AsyncFunction<readonly unknown[], unknown>
  readonly next: AsyncFunction<readonly unknown[], unknown>
  readonly options: CompareOptions
  /** Both may be called for one call. */
  readonly isCompared: boolean
}

const NAME = /^[\w.:-]{1,100}$/

/** Returns two functions as an operation that no table describes. Throws an Error with a sentence about an option that is wrong. */
export function pairOf(legacy: FunctionPair['legacy'], next: FunctionPair['next'], options: CompareOptions): FunctionPair {
  const { name, isRead, isSafeTwice = false, canary, caller } = options
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new Error(`name is ${JSON.stringify(name)}, but it must have 1 to 100 letters, digits, ".", "_", ":" and "-", such as users.get.`)
  }
  if (typeof isRead !== 'boolean') throw new Error(`isRead of ${name} must be true, or false if a call may change something.`)
  if (canary && !caller) throw new Error(`canary of ${name} needs the option caller, which says whose call it is.`)
  const isCompared = isRead || isSafeTwice
  const operation: Operation = {
    id: name,
    method: isRead ? 'GET' : 'POST',
    template: name,
    kind: 'direct',
    calls: [],
    params: {},
    ownParams: [],
    missing: 'error',
    empty: () => null,
    fieldName: (path) => path,
    ...(!isCompared && { readBack: { unverifiable: 'it writes, and only one side is called' } }),
  }
  return { operation, legacy, next, options, isCompared }
}
