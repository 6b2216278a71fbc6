import type { Operation } from '../operations/operation.ts'
import { isReadBack } from '../operations/read-back.ts'
import { fieldAt, itemFields, readerOf } from './shown-members.ts'

/** Checks that the effect of every write can be read, or that its table says why not. Throws a sentence. */
export function checkReadBacks(operations: readonly Operation[]): void {
  for (const operation of operations) {
    if (!operation.begin || operation.method === 'GET') continue
    const { id, readBack, answer } = operation
    if (!readBack) throw new Error(`operation ${id} writes, but says neither how its effect is read nor why it cannot be (readBack)`)
    if (!isReadBack(readBack)) continue
    const { resource, shownAs = {} } = readBack
    if (!readerOf(readBack, operations)) throw new Error(`operation ${id} writes a ${resource.name}, and no operation reads a single one`)
    const fields = itemFields(readBack, answer)
    for (const [name, place] of Object.entries(shownAs)) {
      if (place !== null && !fieldAt(resource.shown, place.split('.'))) {
        throw new Error(`operation ${id}: ${name} is shown as ${place}, which a ${resource.name} does not have`)
      }
    }
    for (const [name, { type }] of Object.entries(fields)) {
      const other = Object.hasOwn(shownAs, name) ? undefined : resource.shown[name]
      if (other && other.type.kind !== type.kind) {
        throw new Error(`operation ${id}: a ${resource.name} shows ${name} in another form; say in shownAs where`)
      }
    }
  }
}
