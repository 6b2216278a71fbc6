import { LOAD_CORE, pinned, pinSelf, stopAll } from './child.ts'
import type { Figure, Scenario } from './report/figure.ts'
import { environment, jsonText, tableText, writeReport } from './report/report.ts'
import { calls } from './scenarios/calls.ts'
import { composed } from './scenarios/composed.ts'
import { diff } from './scenarios/diff.ts'
import { fullList } from './scenarios/full-list.ts'
import { growth } from './scenarios/growth.ts'
import { largeList } from './scenarios/large-list.ts'
import { put } from './scenarios/put.ts'
import { startUp } from './scenarios/start.ts'
import { page, resource } from './scenarios/throughput.ts'

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  resource,
  page,
  list: fullList,
  large: largeList,
  growth,
  diff,
  start: startUp,
  calls,
  composed,
  put,
}

const USAGE = `node .bench/main.js [--short] [--write] [${Object.keys(SCENARIOS).join(' | ')}]…
  --short   fewer and shorter measurements
  --write   put the figures and the plot into docs/performance.md`

const args = process.argv.slice(2)
const names = args.filter((arg) => !arg.startsWith('--'))
const options = args.filter((arg) => arg.startsWith('--'))
if (options.some((option) => !['--short', '--write'].includes(option)) || names.some((name) => !(name in SCENARIOS))) {
  process.stderr.write(`${USAGE}\n`)
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
const where = environment(pinned)
process.stdout.write(`${jsonText(where, figures)}\n\n${where}\n\n${tableText(figures)}\n`)
if (options.includes('--write')) writeReport(where, figures)
process.exitCode = figures.every(({ holds }) => holds !== false) ? 0 : 1
