import type { Mapping } from '../src/tables/language.ts'
import { advisory } from './advisory.ts'
import { events } from './events.ts'
import { iam } from './iam.ts'
import { libraries } from './libraries.ts'
import { ping } from './ping.ts'
import { registry } from './registry.ts'
import { v1Domains } from './v1-domains.ts'
import { vulnerabilities } from './vulnerabilities.ts'

/** Every domain of v1; the ones that v2 does not serve come last. */
export const mappings: readonly Mapping[] = [iam, registry, vulnerabilities, libraries, advisory, events, ping, ...v1Domains]
