import { type Client, createUseOf, type OperationUse } from '../migrate/clients.ts'
import type { Operation } from '../tables/operation.ts'
import { checklistFor } from './checklist.ts'
import { GUIDE_FORMAT, type Guide, type GuideBlocker } from './guide-schema.ts'
import { guideSection, routeOf, type SectionContext } from './guide-section.ts'
import { v1Text } from './guided-request.ts'
import { perDay } from './per-day.ts'
import { plainRequest, sampleRequest } from './sample-request.ts'
import { topicsFor } from './topics.ts'

/** Returns the guide of one client: its operations, the most called first, and what v2 cannot do for it. */
export function clientGuide(client: Client, context: SectionContext): Guide {
  const operations = context.mappings.flatMap((mapping) => mapping.operations)
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  const served = client.operations.flatMap((use) => {
    const operation = byId.get(use.operation)
    return operation?.begin ? [{ operation, use }] : []
  })
  const others = client.operations.filter(({ operation }) => !byId.get(operation)?.begin)
  const { caller, subject, calls, lastSeen } = client
  const firstSeen = Math.min(...client.operations.map((use) => use.firstSeen))
  const guide = assemble(context, {
    title: `Move ${subject ?? caller} from v1 to v2`,
    caller,
    operations: served.map(({ operation }) => operation),
    sections: served.map(({ operation, use }) => guideSection(operation, context, use)),
    blockers: others.map((use) => blockerOf(use, byId, operations)),
  })
  const times = { firstSeen: new Date(firstSeen).toISOString(), lastSeen: new Date(lastSeen).toISOString() }
  return { ...guide, client: { caller, ...(subject !== undefined && { subject }), calls, ...times } }
}

/** Returns the guide of operations, whoever calls them. */
export function operationGuide(operations: readonly Operation[], title: string, context: SectionContext): Guide {
  const served = operations.filter(({ begin }) => begin)
  return assemble(context, {
    title,
    caller: undefined,
    operations: served,
    sections: served.map((operation) => guideSection(operation, context)),
    blockers: operations.filter(({ begin }) => !begin).map((operation) => v1OnlyBlocker(operation)),
  })
}

interface Parts extends Pick<Guide, 'title' | 'sections' | 'blockers'> {
  readonly caller: string | undefined
  /** The operations of the sections. */
  readonly operations: readonly Operation[]
}

/** Clients of the proxy have such a hash; those of an access log have other names, which the proxy does not know. */
const HASH = /^[0-9a-f]{16}$/

function assemble({ env, base, topics = [] }: SectionContext, { title, caller, operations, sections, blockers }: Parts): Guide {
  return {
    format: GUIDE_FORMAT,
    title,
    dialect: env.dialect,
    base,
    topics: operations.length === 0 ? [] : [...topicsFor(topics, operations)],
    blockers,
    sections,
    checklist: [
      ...checklistFor({ sections, blockers, operations, caller: caller !== undefined && HASH.test(caller) ? caller : undefined }),
    ],
  }
}

function blockerOf(use: OperationUse, byId: ReadonlyMap<string, Operation>, operations: readonly Operation[]): GuideBlocker {
  // `libraries.artifacts.list?ecosystems` is a value that v2 lacks in an operation that it has.
  const operation = byId.get(use.operation.split('?')[0] ?? '')
  const known = createUseOf(operations)(use.operation)
  const pace = perDay(use)
  return {
    use: use.operation,
    ...(operation && { route: routeOf(operation) }),
    because: known?.because ?? 'no table knows it',
    ...(known?.instead !== undefined && { instead: known.instead }),
    requests: operation ? (use.requests ?? []).map((kind) => v1Text(operation, sampleRequest(operation, kind))) : [],
    calls: use.calls,
    ...(pace !== undefined && { perDay: pace }),
  }
}

function v1OnlyBlocker(operation: Operation): GuideBlocker {
  const { id, because = '', instead } = operation
  return {
    use: id,
    route: routeOf(operation),
    because,
    ...(instead !== undefined && { instead }),
    requests: [v1Text(operation, plainRequest(operation))],
  }
}
