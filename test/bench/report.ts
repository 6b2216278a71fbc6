import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { type Figure, round } from './figure.ts'
import { plot } from './plot.ts'

const DOCS = new URL('../docs/', import.meta.url)

/** Where the figures come from, in one line. */
export function environment(pinned: boolean): string {
  const cores = `${cpus().length} × ${cpus()[0]?.model.trim()}`
  const pins = pinned ? 'proxy pinned to one core, upstream and load to another' : 'processes not pinned'
  return `Node ${process.versions.node}, ${cores}, ${pins}`
}

export function jsonText(where: string, figures: readonly Figure[]): string {
  return JSON.stringify({ where, figures })
}

/** A table for people; the same lines as in the document. */
export function tableText(figures: readonly Figure[]): string {
  const lines = figures.map(({ point, what, value, unit, must = '', holds }) => [
    `${point}`,
    what,
    `${round(value)} ${unit}`,
    must,
    verdict(holds),
  ])
  const rows = [['', 'what', 'measured', 'must be', ''], ...lines]
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
    .join('\n')
    .replace('\n', `\n|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|\n`)
}

function verdict(holds: boolean | undefined): string {
  if (holds === undefined) return ''
  return holds ? 'holds' : 'DOES NOT HOLD'
}

const BEGIN = '<!-- figures: written by npm run bench -- --write -->'
const END = '<!-- end of figures -->'

/** Puts the figures into docs/performance.md, between its two marks, and the plot beside it. */
export function writeReport(where: string, figures: readonly Figure[]): void {
  const path = new URL('performance.md', DOCS)
  const text = readFileSync(path, 'utf8')
  const [before, rest = ''] = text.split(BEGIN)
  const after = rest.slice(rest.indexOf(END))
  writeFileSync(path, `${before}${BEGIN}\n\n${where}.\n\n${tableText(figures)}\n\n${after}`)
  writeFileSync(new URL('performance.svg', DOCS), plot(figures))
}
