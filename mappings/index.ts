import type { Mapping, Tables } from '../src/tables/language.ts'
import { advisory } from './advisory.ts'
import { differences } from './differences.ts'
import { events } from './events.ts'
import { iam } from './iam.ts'
import { libraries } from './libraries.ts'
import { ping, probes } from './ping.ts'
import { registry } from './registry.ts'
import { topics } from './topics.ts'
import { v1Domains } from './v1-domains.ts'
import { v1OnlyShapes } from './v1-only-shapes.ts'
import { vulnerabilities } from './vulnerabilities.ts'

/** Every domain of v1; the ones that v2 does not serve come last. */
export const mappings: readonly Mapping[] = [iam, registry, vulnerabilities, libraries, advisory, events, ping, ...v1Domains]

/** The tables of the resource-management service, which the commands serve unless they are given others. */
export const tables: Tables = { name: 'resource-management', mappings, differences, shapes: v1OnlyShapes, hasGrpc: true, probes, topics }
