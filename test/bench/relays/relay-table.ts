import { atLeast, type Figure } from '../report/figure.ts'
import { median } from '../report/statistics.ts'

/** What one way to a service reaches in one round. */
export interface RelayFigures {
  readonly callsPerSecond: number
  /** CPU time of the relay for one of them, in microseconds; 0 without a relay. */
  readonly cpu: number
  /** The same of client and service together. */
  readonly others: number
  readonly p50: number
  readonly p99: number
  readonly mebibytesPerSecond: number
}

type AllFigures = ReadonlyMap<string, readonly RelayFigures[]>

const ROWS: readonly (readonly [what: string, unit: string, of: keyof RelayFigures])[] = [
  ['unary calls', '/s', 'callsPerSecond'],
  ['processor time of the relay a call', 'µs', 'cpu'],
  ['of client and service, on one core', 'µs', 'others'],
  ['one call alone, median', 'µs', 'p50'],
  ['one call alone, 99th percentile', 'µs', 'p99'],
  ['stream of messages', 'MiB/s', 'mebibytesPerSecond'],
]

const line = (first: string, cells: readonly string[]) => `${first.padEnd(38)}${cells.map((cell) => cell.padStart(14)).join('')}\n`

/** A table with a column for each way, and the ratios of their calls a second. */
export function relayTable(figures: AllFigures): string {
  const names = [...figures.keys()]
  const rows = ROWS.map(([what, unit, of]) => {
    const medians = [...figures.values()].map((rounds) => median(rounds.map((round) => round[of])))
    return line(
      what,
      medians.map((value) => `${Math.round(value)} ${unit}`),
    )
  })
  const direct = names.slice(1).map((name) => [name, 'direct'] as const)
  const pairs = [...direct, ['Crosswalk', 'bare'] as const]
  const ratios = pairs.map(([a, b]) => line(`calls a second, ${a} ÷ ${b}`, [`${ratio(figures.get(a), figures.get(b)).toFixed(2)} ×`]))
  return [line('', names), ...rows, ...ratios].join('')
}

/** The calls a second of Crosswalk's relay beside a direct connection, and their bound. */
export function relayMark(figures: AllFigures): Figure {
  return atLeast(11, 'calls a second, Crosswalk ÷ direct', ratio(figures.get('Crosswalk'), figures.get('direct')), '×', 0.6)
}

/** The median of the ratios of the rounds: a busy machine slows both of a round. */
function ratio(a: readonly RelayFigures[] = [], b: readonly RelayFigures[] = []): number {
  return median(a.map(({ callsPerSecond }, round) => callsPerSecond / (b[round]?.callsPerSecond ?? 0)))
}
