import type { Mapping } from '../src/mapping/operation.ts'
import { iam } from './iam.ts'
import { ping } from './ping.ts'
import { registry } from './registry.ts'

/** Every domain that is served; a new domain is one more line here. */
export const mappings: readonly Mapping[] = [iam, registry, ping]
