import type { DeclaredDifference } from '../../../mappings/differences.ts'
import { describeSign } from '../../../src/tables/language/sign-text.ts'
import type { Mapping } from '../../../src/tables/operations/operation.ts'
import { covers } from '../../../src/tables/operations/operation-pattern.ts'

const HEAD = `# What a v1 client can see differently

Crosswalk answers v1 requests from v2. This page lists every difference that a client can see between these answers and those of a genuine v1 service.
Anything that is not listed behaves alike. \`crosswalk operations\` and \`crosswalk explain\` show the codes of the differences beside the operations.
A case of the contract suite (\`test/compat\`) shows each difference on both sides. The suite fails if a difference stops occurring, and if one occurs that is not listed.

\`npm run docs\` makes this page from [\`mappings/differences.ts\`](../mappings/differences.ts).
`

/** The page of all differences as Markdown, one section for each code. */
export function differencesPage(differences: readonly DeclaredDifference[], mappings: readonly Mapping[]): string {
  const ids = mappings.flatMap((mapping) => mapping.operations).map(({ id }) => id)
  const index = differences.map(({ code, operations }) => `| [\`${code}\`](#${code}) | ${coveredBy(operations, ids).length} |`)
  return [HEAD, ['| Code | Operations |', '|---|---|', ...index].join('\n'), ...differences.map((one) => section(one, ids))]
    .join('\n\n')
    .concat('\n')
    .replace(/\n{3,}/g, '\n\n')
}

function section({ code, seen, because, operations, test, signs = [] }: DeclaredDifference, ids: readonly string[]): string {
  const covered = coveredBy(operations, ids)
  const listed = covered.length === ids.length ? `every one of the ${ids.length}` : covered.map((id) => `\`${id}\``).join(', ')
  return `## ${code}\n\n${seen}\n\n- Why: ${because}\n- Operations: ${listed}\n- Pinned by: ${test}${expected(signs)}`
}

/** What comparisons of v1 and v2 explain by a difference. A difference in writes or words alone has no such list. */
function expected(signs: NonNullable<DeclaredDifference['signs']>): string {
  if (signs.length === 0) return ''
  return ['\n- What a comparison expects, and nothing else:', ...signs.map((sign) => `  - ${describeSign(sign)}`)].join('\n')
}

function coveredBy(patterns: readonly string[], ids: readonly string[]): readonly string[] {
  return ids.filter((id) => patterns.some((pattern) => covers(pattern, id)))
}
