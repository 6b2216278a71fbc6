import { advisory } from '../../mappings/advisory.ts'
import { events } from '../../mappings/events.ts'
import { mappings } from '../../mappings/index.ts'
import { libraries } from '../../mappings/libraries.ts'
import { vulnerabilities } from '../../mappings/vulnerabilities.ts'
import type { Mapping } from '../../src/mapping/operation.ts'

const known = new Set(mappings.map(({ domain }) => domain))

/** The tables of every domain, served or not yet. */
export const tables: readonly Mapping[] = [
  ...mappings,
  ...[vulnerabilities, libraries, advisory, events].filter(({ domain }) => !known.has(domain)),
]
