import type { Mapping } from '../src/mapping/operation.ts'
import { advisory } from './advisory.ts'
import { events } from './events.ts'
import { iam } from './iam.ts'
import { libraries } from './libraries.ts'
import { ping } from './ping.ts'
import { registry } from './registry.ts'
import { vulnerabilities } from './vulnerabilities.ts'

/** Every domain that is served; a new domain is one more line here. */
export const mappings: readonly Mapping[] = [iam, registry, vulnerabilities, libraries, advisory, events, ping]
