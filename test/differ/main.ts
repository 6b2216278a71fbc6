import { parseArgs } from 'node:util'
import { seedOr } from '../faults/fuzz/size.ts'
import { harshSlice } from './harsh/harsh-slice.ts'
import { onceSlice, readsSlice } from './reads/reads-slice.ts'
import { restSlice } from './rest/rest-slice.ts'
import type { Slice } from './score/slice.ts'
import { holds, linesOf } from './score/tally.ts'
import { statisticsSlice } from './statistics/statistics-slice.ts'
import { writesSlice } from './writes/writes-slice.ts'

const SLICES: readonly Slice[] = [readsSlice, onceSlice, harshSlice, restSlice, statisticsSlice, writesSlice]

const USAGE = `npm run differ -- [${SLICES.map(({ name }) => name).join(' | ')}]… [--seconds N]
  Spoils answers of v2 and prints how many of the visible ones the comparison finds, each miss with its reason, and what it flags wrongly.
  Exits with 1 when a bound is missed. With --seconds, it tries a random sample; CROSSWALK_SEED repeats it.
${SLICES.map(({ name, tries }) => `  ${name.padEnd(8)} ${tries}`).join('\n')}`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string' }, help: { type: 'boolean' } },
})
const unknown = positionals.filter((name) => !SLICES.some((slice) => slice.name === name))
const seconds = values.seconds === undefined ? undefined : Number(values.seconds)
if (values.help || unknown.length > 0 || (seconds !== undefined && !(seconds > 0))) {
  process.stdout.write(`${USAGE}\n`)
  process.exit(values.help ? 0 : 2)
}

const seed = seedOr(seconds === undefined ? 1 : Date.now() % 2 ** 31)
const chosen = SLICES.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const began = performance.now()
process.stdout.write(`CROSSWALK_SEED=${seed}${seconds === undefined ? '' : `, a sample of ${seconds} s`}\n`)
let failed = 0
for (const slice of chosen) {
  const ms = seconds === undefined ? undefined : (1000 * seconds) / chosen.length
  for (const tally of await slice.run({ seed, ms })) {
    if (!holds(tally)) failed += 1
    process.stdout.write(`${linesOf(tally).join('\n')}\n`)
  }
}
process.stdout.write(
  `${failed === 0 ? 'every bound holds' : `${failed} bounds are missed`}, ${Math.round((performance.now() - began) / 1000)} s\n`,
)
process.exit(failed === 0 ? 0 : 1)
