import type { Mapping, Operation, OperationKind } from '../../../src/tables/operation.ts'

const KINDS: readonly OperationKind[] = ['direct', 'composed', 'emulated', 'v1-only']

/** The legend of the table: the kinds and the emulated operations. */
function legend(operations: readonly Operation[]): string {
  const emulated = operations.filter(({ kind }) => kind === 'emulated').map(({ id }) => `\`${id}\``)
  return `*direct*: one v2 operation carries the answer. *composed*: several do. *v1-only*: nothing in v2 does. *emulated*: v2 data yields it, fully or in part: ${emulated.join(', ')}.`
}

/** The number of operations of each kind, by domain and in total, as Markdown. */
export function coverageTable(mappings: readonly Mapping[]): string {
  const all = { domain: '**all**', operations: mappings.flatMap(({ operations }) => operations) }
  const alone = mappings.filter(({ operations }) => operations.every(({ kind }) => kind === 'v1-only'))
  const others = { domain: alone.map(({ domain }) => domain).join(', '), operations: alone.flatMap(({ operations }) => operations) }
  const rows = [...mappings.filter((mapping) => !alone.includes(mapping)), others, all].map(({ domain, operations }) => {
    const counts = KINDS.map((kind) => operations.filter((operation) => operation.kind === kind).length)
    return `| ${[domain, operations.length, ...counts].join(' | ')} |`
  })
  return [
    `| Domain | Operations | ${KINDS.join(' | ')} |`,
    `|---|${'---:|'.repeat(KINDS.length + 1)}`,
    ...rows,
    '',
    legend(all.operations),
  ].join('\n')
}

/** Replaces the content between the two markers of a section. */
export function withSection(text: string, name: string, content: string): string {
  const [start, end] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`]
  const [before, rest] = text.split(start)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`the text has no section between ${start} and ${end}`)
  return `${before}${start}\n${content}\n${end}${after}`
}
