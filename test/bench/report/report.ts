import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { type Figure, round } from './figure.ts'
import { plot } from './plot.ts'

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
  const rows = [['point', 'what', 'measured', 'must be', 'verdict', 'command'], ...lines]
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
  13: 'bench -- passing',
}

function verdict(holds: boolean | undefined): string {
  if (holds === undefined) return ''
  return holds ? 'holds' : 'DOES NOT HOLD'
}

const PLOT = '![Every figure that has a goal, as a share of it](docs/images/performance.svg)'

/**
 * Writes what users ask for first into docs/why/performance.md, the plot and the goals that do not hold into CONTRIBUTING.md, each between
 * its two marks. The whole table is only printed. `root` is the folder of the repository.
 */
export function writeReport(where: string, figures: readonly Figure[], root = '.'): void {
  fill(`${root}/docs/why/performance.md`, 'figures', `${where}.\n\n${headlines(figures)}`)
  fill(`${root}/CONTRIBUTING.md`, 'goals', `${where}.\n\n${PLOT}\n\n${openGoals(figures)}`)
  writeFileSync(`${root}/docs/images/performance.svg`, plot(figures))
}

/** The goals that do not hold, below the number of those that do. */
function openGoals(figures: readonly Figure[]): string {
  const goals = figures.filter(({ holds }) => holds !== undefined)
  const open = goals.filter(({ holds }) => !holds)
  return `${goals.length - open.length} of ${goals.length} goals hold; \`npm run bench\` prints them all. The others:\n\n${tableText(open)}`
}

function fill(file: string, name: string, content: string): void {
  const [start, end] = [`<!-- ${name}: written by npm run bench -- --write -->`, `<!-- end of ${name} -->`]
  const [before, rest = ''] = readFileSync(file, 'utf8').split(start)
  writeFileSync(file, `${before}${start}\n\n${content}\n\n${rest.slice(rest.indexOf(end))}`)
}

/** The requests that are compared with those through other proxies. */
const LOADS = ['one resource by id', '200-row page']
const PEERS = ['crosswalk', '@fastify/http-proxy', 'http-proxy-3', 'nginx', 'nginx + Lua', 'nginx + njs']

/** Other figures, as users ask for them, by point and name. */
const QUESTIONS: readonly (readonly [question: string, point: number, what: string])[] = [
  ["Added to a client's p99 by 100 comparisons a second, at 2,000 requests/s", 6, 'added by diff-v2, v1 answering, p99'],
  ['The same while v1 hangs', 6, 'added by diff-v2, v1 hung, p99'],
  ['Processor time added by these comparisons', 6, 'added by diff-v2, v1 answering with 100 comparisons a second, CPU'],
  ['First byte of a list of 10,000 rows, when v2 takes 20 ms for a page', 3, 'the first byte, by windows'],
  ['The whole list', 3, 'the list by windows'],
  ['Memory above idle while a list of 100,000 rows is sent', 4, 'memory above idle, at its peak'],
  ['From the start of `serve` to its first answer', 7, 'from the start of `serve` to its first answer'],
  ['Memory of an idle process', 7, 'memory while idle after it'],
  ['Processor time of a gRPC call, compared with the same request over REST on HTTP/2', 11, 'one row: gRPC ÷ REST on HTTP/2, CPU'],
]

function headlines(figures: readonly Figure[]): string {
  const cell = (what: string, unit: string) => {
    const found = figures.find((figure) => figure.what === what)
    return found === undefined ? '' : `${round(found.value)} ${unit}`
  }
  const peers = PEERS.map((peer) => {
    const cells = LOADS.flatMap((load) => [cell(`${load}: ${peer}`, '/s'), cell(`${load}: ${peer}, CPU`, 'µs')])
    return `| ${[peer === 'crosswalk' ? '**Crosswalk**' : peer, ...cells].join(' | ')} |`
  })
  const answers = QUESTIONS.flatMap(([question, point, what]) => {
    const found = figures.find((figure) => figure.point === point && figure.what === what)
    return found === undefined ? [] : [`| ${question} | ${round(found.value)} ${found.unit} |`]
  })
  const heads = ['| Proxy | One resource | CPU of it | A page of 200 rows | CPU of it |', '|---|---:|---:|---:|---:|']
  return [...heads, ...peers, '', '| What | Measured |', '|---|---:|', ...answers].join('\n')
}
