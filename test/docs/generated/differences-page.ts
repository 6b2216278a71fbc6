import type { GrpcDifference } from '../../../mappings/differences.ts'
import { readFacts } from '../../../src/grpc/facts.ts'
import { openRpc } from '../../../src/grpc/proto-files.ts'
import { covers, type Mapping } from '../../../src/tables/operation.ts'
import { describeSign } from '../../../src/tables/signs.ts'
import type { DeclaredDifference } from '../../../src/tables/tables.ts'
import { coverageTable } from './coverage-table.ts'

const HEAD = `# What a v1 client can see differently

Crosswalk answers v1 requests from v2. This page lists every difference that a client can see between these answers and those of a genuine v1 service.
Anything that is not listed behaves alike. \`crosswalk operations\` and \`crosswalk explain\` show the codes of the differences beside the operations. The [glossary](../glossary.md) explains the words.
A case of the contract suite (\`test/compat\`) shows each difference on both sides. The suite fails if a difference stops occurring, and if one occurs that is not listed.

*Holds over* names the protocols. gRPC-Web and Connect carry the same messages as gRPC, and what holds over gRPC holds over them.

\`npm run docs\` makes this page from [\`mappings/differences.ts\`](../../mappings/differences.ts).
`

/** The page of all differences as Markdown: what is served at all, and one section for each code. */
export function differencesPage(
  differences: readonly DeclaredDifference[],
  overGrpc: readonly GrpcDifference[],
  mappings: readonly Mapping[],
): string {
  const operations = mappings.flatMap((mapping) => mapping.operations)
  const ids = operations.map(({ id }) => id)
  const methods = new Set(openRpc(operations, readFacts()).methods.flatMap(({ operation }) => operation?.id ?? []))
  const index = differences.map((one) => {
    const covered = coveredBy(one.operations, ids)
    return `| [\`${one.code}\`](#${one.code}) | ${covered.length} | ${holdsOver(one, covered, methods)} |`
  })
  const table = ['| Code | Operations | Holds over |', '|---|---|---|', ...index].join('\n')
  const coverage = `## Coverage\n\n${coverageTable(mappings)}`
  return [HEAD, coverage, '## Differences', table, ...differences.map((one) => section(one, ids)), grpcSection(overGrpc)]
    .join('\n\n')
    .concat('\n')
    .replace(/\n{3,}/g, '\n\n')
}

/** The protocols over which a client can meet a difference: gRPC if one of its operations has a method. */
function holdsOver({ overGrpc }: DeclaredDifference, covered: readonly string[], methods: ReadonlySet<string>): string {
  const known = covered.filter((id) => methods.has(id))
  if (known.length === 0) return 'REST'
  if (overGrpc !== undefined) return 'REST; gRPC in another form'
  return known.length === covered.length ? 'both' : `both (gRPC: ${known.length} of them)`
}

function grpcSection(rows: readonly GrpcDifference[]): string {
  return ['## Over gRPC alone\n', ...rows.map(({ seen, because }) => `- ${seen} ${because}`)].join('\n')
}

function section({ code, seen, because, overGrpc, operations, test, signs = [] }: DeclaredDifference, ids: readonly string[]): string {
  const covered = coveredBy(operations, ids)
  const listed = covered.length === ids.length ? `every one of the ${ids.length}` : covered.map((id) => `\`${id}\``).join(', ')
  return `## ${code}\n\n${seen}\n\n- Why: ${because}${overGrpc === undefined ? '' : `\n- Over gRPC: ${overGrpc}`}\n- Operations: ${listed}\n- Pinned by: ${test}${expected(signs)}`
}

/** What comparisons of v1 and v2 explain by a difference. A difference in writes or words alone has no such list. */
function expected(signs: NonNullable<DeclaredDifference['signs']>): string {
  if (signs.length === 0) return ''
  return ['\n- What a comparison expects, and nothing else:', ...signs.map((sign) => `  - ${describeSign(sign)}`)].join('\n')
}

function coveredBy(patterns: readonly string[], ids: readonly string[]): readonly string[] {
  return ids.filter((id) => patterns.some((pattern) => covers(pattern, id)))
}
