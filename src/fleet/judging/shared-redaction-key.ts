import type { RedactionKey } from '../../migrate/compare/redact.ts'
import { type Part, reading } from '../part.ts'

const NAME = 'redaction'

/** Gives all replicas the key of the first one, so that one text has one hash in the records of all. */
export function createSharedRedactionKey(key: RedactionKey): Part {
  let isTold = false
  const shared = reading('texts', NAME, ({ key: first }) => {
    if (first === undefined) isTold = false
    else key.share(first)
  })
  return {
    changes() {
      if (isTold) return []
      isTold = true
      return [{ kind: 'mark', name: NAME, field: 'key', text: key.text() }]
    },
    readings: () => [shared],
  }
}
