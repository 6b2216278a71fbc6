import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'

/** One line of the table: the measured value and its bound. */
export interface Figure {
  /** Number of the point to which it belongs. */
  readonly point: number
  readonly what: string
  readonly value: number
  readonly unit: string
  /** The bound in words; absent if the number is only shown. */
  readonly must?: string
  readonly holds?: boolean
}

/** What a scenario knows of the run. */
export interface Run {
  /** Fewer launches and shorter loads: checks that everything works, and is no comparison. */
  readonly short: boolean
  readonly note: (text: string) => void
}

export type Scenario = (run: Run) => Promise<readonly Figure[]>

export function shown(point: number, what: string, value: number, unit: string): Figure {
  return { point, what, value, unit }
}

export function atLeast(point: number, what: string, value: number, unit: string, bound: number): Figure {
  return { point, what, value, unit, must: `≥ ${bound} ${unit}`, holds: value >= bound }
}

export function atMost(point: number, what: string, value: number, unit: string, bound: number): Figure {
  return { point, what, value, unit, must: `≤ ${round(bound)} ${unit}`, holds: value <= bound }
}

/** Three significant digits; whole numbers from 1000. */
export function round(value: number): number {
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3))
}

/** How an answer differs from the right one. */
export interface Losses {
  /** Values that are missing, or are others. */
  readonly values: number
  /** Objects whose members stand in another order. */
  readonly orders: number
}

/** Compares decoded JSON with the right answer. Members that the right answer does not have count as values. */
export function lossesOf(right: unknown, given: unknown): Losses {
  if (!isTree(right) || !isTree(given) || Array.isArray(right) !== Array.isArray(given))
    return { values: Number(right !== given), orders: 0 }
  const [wanted, known] = [Object.keys(right), Object.keys(given)]
  const parts = [...new Set([...wanted, ...known])].map((name) =>
    Object.hasOwn(right, name) && Object.hasOwn(given, name) ? lossesOf(right[name], given[name]) : { values: 1, orders: 0 },
  )
  const shared = (names: readonly string[], others: readonly string[]) => names.filter((name) => others.includes(name)).join()
  const own = Number(!Array.isArray(right) && shared(wanted, known) !== shared(known, wanted))
  return { values: parts.reduce((sum, { values }) => sum + values, 0), orders: parts.reduce((sum, { orders }) => sum + orders, own) }
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

const BAR = 26
const LEFT = 500
const WIDTH = 1030

/** Draws every figure that has a bound as a share of it; the line at 1 is the bound. Returns an SVG document. */
export function plot(figures: readonly Figure[]): string {
  const bars = figures.flatMap((figure) => {
    const bound = Number(/[\d.]+/.exec(figure.must ?? '')?.[0])
    return figure.must && bound > 0 ? [{ figure, share: figure.value / bound }] : []
  })
  const scale = (WIDTH - LEFT - 120) / Math.max(1.2, ...bars.map(({ share }) => share))
  const height = (bars.length + 1) * BAR + 10
  const lines = bars.map(({ figure, share }, at) => {
    const y = at * BAR + 8
    const text = `${round(figure.value)} ${figure.unit} (${figure.must})`
    return `<text x="${LEFT - 8}" y="${y + 13}" text-anchor="end">${escaped(figure.what)}</text>
<rect x="${LEFT}" y="${y}" width="${(share * scale).toFixed(1)}" height="18" fill="${figure.holds ? '#4a7' : '#c55'}"/>
<text x="${(LEFT + share * scale + 6).toFixed(1)}" y="${y + 13}">${escaped(text)}</text>`
  })
  const bound = (LEFT + scale).toFixed(1)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH + 140}" height="${height}" font-family="sans-serif" font-size="12">
<title>Figures of npm run bench, each as a share of its bound</title>
<rect width="100%" height="100%" fill="#fff"/>
${lines.join('\n')}
<line x1="${bound}" y1="0" x2="${bound}" y2="${height - BAR + 4}" stroke="#333" stroke-dasharray="4 3"/>
<text x="${bound}" y="${height - 8}" text-anchor="middle">the bound</text>
</svg>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

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

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** Returns the standard error of the median, taken from the median distance to it: 1.2533 × 1.4826 × distance ÷ √n, for normal values. */
export function medianError(values: readonly number[]): number {
  const middle = median(values)
  return (1.2533 * 1.4826 * median(values.map((value) => Math.abs(value - middle)))) / Math.sqrt(values.length)
}

/** Returns the value below which `share` (0 … 1) of the values lie. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Returns the line `y = slope × x + base` closest to the points, and how much of their variance it explains (r²). */
export function line(points: readonly (readonly [x: number, y: number])[]): { slope: number; base: number; r2: number } {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))]
  const sum = (of: (x: number, y: number) => number) => points.reduce((total, [x, y]) => total + of(x - meanX, y - meanY), 0)
  const slope = sum((x, y) => x * y) / sum((x) => x * x)
  const base = meanY - slope * meanX
  const residue = points.reduce((total, [x, y]) => total + (y - slope * x - base) ** 2, 0)
  return { slope, base, r2: 1 - residue / sum((_, y) => y * y) }
}
