import { parseArgs } from 'node:util'
import { seedOr } from '../faults/fuzz/hunt.ts'
import { adversarySlice } from './adversary.ts'
import { harshSlice } from './harsh.ts'
import { holds, linesOf, runApart, type Slice } from './judge.ts'
import { onceSlice, readsSlice } from './reads.ts'
import { restSlice } from './rest.ts'
import { statisticsSlice } from './statistics.ts'
import { writesSlice } from './writes.ts'

const SLICES: readonly Slice[] = [readsSlice, onceSlice, harshSlice, restSlice, statisticsSlice, writesSlice, adversarySlice]

const USAGE = `npm run differ -- [${SLICES.map(({ name }) => name).join(' | ')}]… [--seconds N] [--only PATTERN]
  Spoils answers of v2 and prints how many of the visible ones the comparison finds, each miss with its reason, and what it flags wrongly.
  Exits with 1 when a bound is missed. With --seconds, it tries a random sample; CROSSWALK_SEED repeats it.
  With --only, one part tries only its cases whose names the regular expression matches. Parts whose cases have names, with an example:
${SLICES.flatMap(({ name, only }) => (only === undefined ? [] : [`    npm run differ -- ${name} --only '${only}'`])).join('\n')}
The parts:
${SLICES.map(({ name, tries }) => `  ${name.padEnd(10)} ${tries}`).join('\n')}`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string' }, only: { type: 'string' }, help: { type: 'boolean' } },
})
const seconds = values.seconds === undefined ? undefined : Number(values.seconds)
const chosen = SLICES.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const isKnown = positionals.every((name) => SLICES.some((slice) => slice.name === name))
const mayChoose = values.only === undefined || (chosen.length === 1 && chosen[0]?.only !== undefined)
if (values.help || !isKnown || !mayChoose || (seconds !== undefined && !(seconds > 0))) {
  process.stdout.write(`${USAGE}\n`)
  process.exit(values.help ? 0 : 2)
}

const seed = seedOr(seconds === undefined ? 1 : Date.now() % 2 ** 31)
const began = performance.now()
const say = (text: string) => void process.stdout.write(text)

/** Runs one part in this process and returns the number of its missed bounds. */
async function run(slice: Slice): Promise<number> {
  const only = values.only === undefined ? undefined : new RegExp(values.only)
  const tallies = await slice.run({ seed, ms: seconds === undefined ? undefined : 1000 * seconds, only })
  if (tallies.length === 0) throw new Error(`No case of ${slice.name} has a name that ${only} matches.`)
  for (const tally of tallies) say(`${linesOf(tally).join('\n')}\n`)
  return tallies.filter((tally) => !holds(tally)).length
}

const [only, ...others] = chosen
if (only && others.length === 0) {
  const failed = await run(only)
  say(
    `${only.name}, CROSSWALK_SEED=${seed}: ${failed === 0 ? 'every bound holds' : `${failed} bounds are missed`}, ${secondsSince(began)} s\n`,
  )
  process.exit(failed === 0 ? 0 : 1)
}
say(`CROSSWALK_SEED=${seed}${seconds === undefined ? '' : `, a sample of ${seconds} s`}\n`)
const failed = await runApart(
  chosen.map(({ name }) => name),
  seed,
  seconds,
  say,
)
say(`${failed === 0 ? 'every bound holds' : `bounds are missed in ${failed} of ${chosen.length} parts`}, ${secondsSince(began)} s\n`)
process.exit(failed === 0 ? 0 : 1)

function secondsSince(start: number): number {
  return Math.round((performance.now() - start) / 1000)
}
