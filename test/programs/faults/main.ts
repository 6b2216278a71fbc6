import { parseArgs } from 'node:util'
import { isInstalled } from '../garden/servers.ts'
import { attackFaults } from './attacks/faults.ts'
import { clientFaults } from './client.ts'
import { doorFaults } from './door.ts'
import { type Group, runFaults, tableOf } from './fault.ts'
import { costFaults } from './load/cost.ts'
import { askedSideFaults, overloadFaults, uniqueFaults } from './load/overload.ts'
import { processFaults } from './process/faults.ts'
import { upstreamFaults } from './upstream.ts'

const USAGE = `npm run faults -- [--share 1/3] [part of a name]…
  Brings faults about and prints what was expected and what was seen; exits with 1 when one does not hold.
  With --share, this process brings about every third of them, and two others could do the rest.`

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { share: { type: 'string', default: '1/1' }, help: { type: 'boolean', default: false } },
})
const [share = Number.NaN, of = Number.NaN] = values.share.split('/').map(Number)
if (values.help || !(share >= 1 && share <= of)) {
  process.stdout.write(`${USAGE}\n`)
  process.exit(values.help ? 0 : 2)
}

// Overload comes first: this process is the load generator as well, and after the attacks it reaches half of its pace.
const all: readonly Group[] = [
  { name: 'overload', faults: [...overloadFaults, ...askedSideFaults] },
  { name: 'upstream', faults: upstreamFaults },
  { name: 'client', faults: clientFaults },
  { name: 'process', faults: processFaults },
  { name: 'attacks', faults: attackFaults },
  { name: 'door', faults: doorFaults },
  { name: 'door cost', faults: costFaults },
  { name: 'door growth', faults: uniqueFaults },
]
let nth = 0
const chosen = all.map(({ name: group, faults }) => ({
  name: group,
  faults: faults
    .filter(({ name }) => names.length === 0 || names.some((part) => `${group}: ${name}`.includes(part)))
    .filter(() => nth++ % of === share - 1)
    .filter(({ needs }) => needs === undefined || isInstalled({ program: needs })),
}))

const unhandled: unknown[] = []
process.on('unhandledRejection', (reason) => unhandled.push(reason))
const rows = await runFaults(chosen, ({ group, name, holds }, seconds) =>
  process.stderr.write(`${holds ? 'holds' : 'FAILS'} ${group}: ${name} (${seconds.toFixed(1)} s)\n`),
)
const failed = rows.filter(({ holds }) => !holds)
process.stdout.write(`${tableOf(rows)}\n\n${rows.length - failed.length} of ${rows.length} hold\n`)
for (const reason of unhandled) process.stdout.write(`unhandled rejection: ${(reason as Error)?.stack ?? reason}\n`)
// An abandoned fault may still hold sockets.
process.exit(failed.length + unhandled.length === 0 && rows.length > 0 ? 0 : 1)
