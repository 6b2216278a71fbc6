import type { Facts } from '../../../src/grpc/facts.ts'
import { isOfBoth, routeOf, ruleOf } from '../../../src/grpc/facts.ts'
import type { Mapping, Operation } from '../../../src/tables/operation.ts'

/** What becomes of the calls of a method. */
export type Fate = 'served' | 'passed on to v1' | 'passed on to v2'

/** A method of the published protos of v1. */
export interface MethodRow {
  /** `chainguard.platform.iam.Groups/List` */
  readonly name: string
  readonly fate: Fate
  /** The operation of the REST request that says the same. */
  readonly operation: string | undefined
}

/** The services that both versions publish under one name. Their methods are those of v2. */
const OF_BOTH = [
  'chainguard.platform.oidc.SecurityTokenService/Exchange',
  'chainguard.platform.oidc.SecurityTokenService/ExchangeRefreshToken',
]

/** Returns every method of the published protos of v1, in the order of their names. */
export function methodRows({ services }: Facts, mappings: readonly Mapping[]): readonly MethodRow[] {
  const operations = new Map(mappings.flatMap((mapping) => mapping.operations).map((one) => [routeOf(one), one]))
  const rows = Object.entries(services).flatMap(([service, methods]) =>
    Object.entries(methods).map(([name, { http }]): MethodRow => {
      const rule = ruleOf(http)
      const operation = rule && operations.get(routeOf(rule))
      return { name: `${service}/${name}`, fate: rule && isOfBoth(rule) ? 'passed on to v2' : fateOf(operation), operation: operation?.id }
    }),
  )
  const ofBoth = OF_BOTH.map((name): MethodRow => ({ name, fate: 'passed on to v2', operation: undefined }))
  return [...rows, ...ofBoth].sort((a, b) => (a.name < b.name ? -1 : 1))
}

function fateOf(operation: Operation | undefined): Fate {
  return operation && operation.kind !== 'v1-only' ? 'served' : 'passed on to v1'
}

/** Returns the page of all methods. */
export function methodsPage(rows: readonly MethodRow[]): string {
  const counts = new Map<Fate, number>()
  for (const { fate } of rows) counts.set(fate, (counts.get(fate) ?? 0) + 1)
  const lines = rows.map(({ name, fate, operation }) => `| \`${name}\` | ${fate} | ${operation === undefined ? '–' : `\`${operation}\``} |`)
  return `# What becomes of each gRPC method of v1

The published protos of v1 have ${rows.length} methods. This page says where a call of each goes, over gRPC, gRPC-Web and Connect alike.
\`npm run docs\` makes it from the facts of gRPC (\`mappings/grpc\`) and the tables.

- **served** (${counts.get('served')}): as the REST request of its http rule, from v2, or from v1 where a [mode](modes.md) gives it to v1.
- **passed on to v1** (${counts.get('passed on to v1')}): to \`upstream.v1\`, in every mode. Without it the call ends with code 12 (UNIMPLEMENTED) in the form of its protocol, and the sentence of REST: what needs a v1 service, and why.
- **passed on to v2** (${counts.get('passed on to v2')}): to \`upstream.v2\`, which publishes the same method.

| Method | Call | Operation |
|---|---|---|
${lines.join('\n')}
`
}
