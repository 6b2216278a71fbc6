import type { Difference } from '../../../mappings/differences.ts'
import type { Mapping } from '../../../src/tables/operations/operation.ts'
import { covers } from '../../../src/tables/operations/operation-pattern.ts'

const HEAD = `# What a v1 client can see differently

Crosswalk answers v1 requests from v2. This page lists every difference that a client can see between that and a native v1 service; what is not here behaves
alike. Each difference has a code, which \`crosswalk operations\` and \`crosswalk explain\` show beside the operations that it belongs to, and a case of the
contract suite (\`test/compat\`) that shows it on both sides: a difference that stops occurring turns the suite red, and so does one that is not listed.

Made from [\`mappings/differences.ts\`](../mappings/differences.ts) by \`npm run docs\`.
`

/** The page of all differences as Markdown, one section for each code. */
export function differencesPage(differences: readonly Difference[], mappings: readonly Mapping[]): string {
  const ids = mappings.flatMap((mapping) => mapping.operations).map(({ id }) => id)
  const index = differences.map(({ code, operations }) => `| [\`${code}\`](#${code}) | ${coveredBy(operations, ids).length} |`)
  return [HEAD, ['| Code | Operations |', '|---|---|', ...index].join('\n'), ...differences.map((one) => section(one, ids))]
    .join('\n\n')
    .concat('\n')
    .replace(/\n{3,}/g, '\n\n')
}

function section({ code, seen, because, operations, test }: Difference, ids: readonly string[]): string {
  const covered = coveredBy(operations, ids)
  const listed = covered.length === ids.length ? `every one of the ${ids.length}` : covered.map((id) => `\`${id}\``).join(', ')
  return `## ${code}\n\n${seen}\n\n- Why: ${because}\n- Operations: ${listed}\n- Pinned by: ${test}`
}

function coveredBy(patterns: readonly string[], ids: readonly string[]): readonly string[] {
  return ids.filter((id) => patterns.some((pattern) => covers(pattern, id)))
}
