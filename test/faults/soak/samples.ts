import { readdirSync, readFileSync } from 'node:fs'

const MEBIBYTE = 2 ** 20

/** Returns the resident memory of a process in MiB. */
export function residentMiB(pid: number): number {
  const [, pages] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')
  return (Number(pages) * 4096) / MEBIBYTE
}

/** Returns the number of open files and sockets of a process. */
export function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

export interface Sample {
  readonly seconds: number
  readonly value: number
}

/** Returns the slope of the least-squares line through the samples, as growth a minute. */
export function slopePerMinute(samples: readonly Sample[]): number {
  const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length
  const at = mean(samples.map(({ seconds }) => seconds))
  const level = mean(samples.map(({ value }) => value))
  const up = samples.reduce((sum, { seconds, value }) => sum + (seconds - at) * (value - level), 0)
  const along = samples.reduce((sum, { seconds }) => sum + (seconds - at) ** 2, 0)
  return along === 0 ? 0 : (60 * up) / along
}

/** Returns the minimum of each of `count` equal spans: retained memory without temporary peaks. */
export function floors(samples: readonly Sample[], count: number): readonly Sample[] {
  const size = Math.ceil(samples.length / count)
  const spans = Array.from({ length: count }, (_, at) => samples.slice(at * size, (at + 1) * size)).filter((span) => span.length > 0)
  return spans.map((span) => span.reduce((least, sample) => (sample.value < least.value ? sample : least)))
}
