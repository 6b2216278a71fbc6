import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { type Figure, round } from './figure.ts'
import { plot } from './plot.ts'

const DOCS = new URL('../../docs/', import.meta.url)

/** Load average below which a machine is quiet: figures for the document are taken on such a one. */
export const QUIET = 0.3

/** Load average of the last minute. */
export function loadNow(): number {
  return loadavg()[0] ?? Number.NaN
}

/** Describes the machine of the figures in one line; `before` is the load average before the run. */
export function environment(pinned: boolean, before: number): string {
  const cores = `${cpus().length} × ${cpus()[0]?.model.trim()}`
  const pins = pinned ? 'proxy pinned to one core, upstream and load to another' : 'processes not pinned'
  const load = `load average ${before.toFixed(2)} at the start and ${loadNow().toFixed(2)} at the end`
  return `Node ${process.versions.node}, ${cores}, ${pins}, ${load}`
}

export function jsonText(where: string, figures: readonly Figure[]): string {
  return JSON.stringify({ where, figures })
}

/** A table for people, with the same lines as in the document. */
export function tableText(figures: readonly Figure[]): string {
  const lines = figures.map(({ point, what, value, unit, must = '', holds }) => {
    return [`${point}`, what, `${round(value)} ${unit}`, must, verdict(holds), `\`npm run ${COMMANDS[point]}\``]
  })
  const rows = [['', 'what', 'measured', 'must be', '', 'command'], ...lines]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const [head, ...body] = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
  return [head, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body].join('\n')
}

/** The script that prints the figures of a point. */
const COMMANDS: Readonly<Record<number, string>> = {
  1: 'bench -- resource',
  2: 'bench -- page',
  3: 'bench -- list',
  4: 'bench -- large',
  5: 'bench -- growth',
  6: 'bench -- diff',
  7: 'bench -- start',
  8: 'bench -- calls',
  9: 'bench -- composed',
  10: 'bench -- put',
  11: 'bench -- grpc',
  12: 'bench -- workers',
}

function verdict(holds: boolean | undefined): string {
  if (holds === undefined) return ''
  return holds ? 'holds' : 'DOES NOT HOLD'
}

const BEGIN = '<!-- figures: written by npm run bench -- --write -->'
const END = '<!-- end of figures -->'
const PLOT = '![Every figure that has a bound, as a share of it](performance.svg)'

/** Writes the figures into docs/performance.md, between its two marks, and the plot beside it. */
export function writeReport(where: string, figures: readonly Figure[]): void {
  const path = new URL('performance.md', DOCS)
  const text = readFileSync(path, 'utf8')
  const [before, rest = ''] = text.split(BEGIN)
  const after = rest.slice(rest.indexOf(END))
  writeFileSync(path, `${before}${BEGIN}\n\n${where}.\n\n${PLOT}\n\n${tableText(figures)}\n\n${after}`)
  writeFileSync(new URL('performance.svg', DOCS), plot(figures))
}
