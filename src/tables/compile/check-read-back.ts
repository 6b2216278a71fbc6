import type { Operation } from '../operations/operation.ts'
import { isReadBack } from '../operations/read-back.ts'
import { fieldAt, itemFields, readerOf } from './shown-members.ts'

/** Yields a sentence for each write whose effect cannot be read, unless its table says why. */
export function* readBackProblems(operations: readonly Operation[]): Generator<string> {
  for (const operation of operations) {
    if (!operation.begin || operation.method === 'GET') continue
    const { id, readBack, answer } = operation
    if (!readBack) yield `operation ${id} writes, but says neither how its effect is read nor why it cannot be (readBack)`
    if (!readBack || !isReadBack(readBack)) continue
    const { resource, shownAs = {} } = readBack
    if (!readerOf(readBack, operations)) yield `operation ${id} writes a ${resource.name}, and no operation reads a single one`
    const fields = itemFields(readBack, answer)
    for (const [name, place] of Object.entries(shownAs)) {
      if (place !== null && !fieldAt(resource.shown, place.split('.'))) {
        yield `operation ${id}: ${name} is shown as ${place}, which a ${resource.name} does not have`
      }
    }
    for (const [name, { type }] of Object.entries(fields)) {
      const other = Object.hasOwn(shownAs, name) ? undefined : resource.shown[name]
      if (other && other.type.kind !== type.kind) {
        yield `operation ${id}: a ${resource.name} shows ${name} in another form; say in shownAs where`
      }
    }
  }
}
