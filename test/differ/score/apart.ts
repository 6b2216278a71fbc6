import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import pLimit from 'p-limit'

/** The parts to run, and how. */
export interface Apart {
  readonly slices: readonly string[]
  readonly seed: number
  /** For a sample of all parts together. */
  readonly seconds: number | undefined
}

/**
 * Runs this program once for each slice, as often at the same time as there are cores. `say` gets what each printed, when it has ended.
 * Returns the number of those that failed.
 */
export async function runApart({ slices, seed, seconds }: Apart, say: (text: string) => void): Promise<number> {
  const cores = Math.min(availableParallelism(), slices.length)
  const limit = pLimit(cores)
  const share = seconds === undefined ? [] : ['--seconds', String((seconds * cores) / slices.length)]
  const run = (slice: string) =>
    new Promise<number>((resolve) => {
      const options = { env: { ...process.env, CROSSWALK_SEED: String(seed) }, maxBuffer: 2 ** 28 }
      execFile(process.execPath, [process.argv[1] ?? '', slice, ...share], options, (error, out, problem) => {
        say(`${out}${problem}`)
        resolve(error ? 1 : 0)
      })
    })
  const failed = await Promise.all(slices.map((slice) => limit(() => run(slice))))
  return failed.reduce((sum, one) => sum + one, 0)
}
