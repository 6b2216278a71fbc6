import { grpc } from './beside-rest.ts'
import { LOAD_CORE, pinned, pinSelf, stopAll } from './child.ts'
import { environment, type Figure, jsonText, loadNow, QUIET, type Scenario, tableText, writeReport } from './report.ts'
import { calls, composed, fullList, largeList, put } from './scenarios.ts'
import { diff, growth, startUp, workers } from './serving.ts'
import { page, passing, resource } from './throughput.ts'

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  resource,
  page,
  passing,
  list: fullList,
  large: largeList,
  growth,
  diff,
  start: startUp,
  calls,
  composed,
  put,
  grpc,
  workers,
}

const USAGE = `node .bench/main.js [--short] [--write] [${Object.keys(SCENARIOS).join(' | ')}]…
  --short   fewer and shorter measurements
  --write   put the figures into docs/why/performance.md, the plot and the goals that do not hold into CONTRIBUTING.md; the machine must be quiet: a load average below ${QUIET}`

const args = process.argv.slice(2)
const names = args.filter((arg) => !arg.startsWith('--'))
const options = args.filter((arg) => arg.startsWith('--'))
if (options.some((option) => !['--short', '--write'].includes(option)) || names.some((name) => !(name in SCENARIOS))) {
  process.stderr.write(`${USAGE}\n`)
  process.exit(2)
}

/** Building the program is work, too: the load average takes minutes to forget it. */
const PATIENCE_MS = 5 * 60_000

/** Waits until the machine is quiet, but not for ever. Returns the load average. */
async function quietened(): Promise<number> {
  const until = performance.now() + PATIENCE_MS
  while (loadNow() >= QUIET && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 1000))
  return loadNow()
}

const isWriting = options.includes('--write')
const before = isWriting ? await quietened() : loadNow()
process.stderr.write(`load average ${before.toFixed(2)} at the start: ${before < QUIET ? 'quiet' : `not below ${QUIET}, so not quiet`}\n`)
if (isWriting && before >= QUIET) {
  process.stderr.write('--write is refused: other work would change the figures. Stop it and try again.\n')
  process.exit(2)
}

pinSelf(LOAD_CORE)
const run = { short: options.includes('--short'), note: (text: string) => process.stderr.write(`${text}\n`) }
const figures: Figure[] = []
try {
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    if (names.length === 0 || names.includes(name)) figures.push(...(await scenario(run)))
  }
} finally {
  stopAll()
}
const where = environment(pinned, before)
process.stdout.write(`${jsonText(where, figures)}\n\n${where}\n\n${tableText(figures)}\n`)
if (options.includes('--write')) writeReport(where, figures)
process.exitCode = figures.every(({ holds }) => holds !== false) ? 0 : 1
