import { type Fuzzing, fuzzFrames, fuzzHeads, fuzzRpc, fuzzUpgrades } from './fuzz/against.ts'
import { fuzzDrafts } from './fuzz/drafts.ts'
import { fuzzGateways } from './fuzz/gateways.ts'
import { seedOr, sizeOr } from './fuzz/hunt.ts'
import { type Fuzzed, fuzzAnswers, fuzzRequests } from './fuzz/requests.ts'
import { fuzzWire } from './fuzz/wire.ts'
import { fuzzWrongV2 } from './fuzz/wrong-v2.ts'

const USAGE = `npm run fuzz -- [drafts | answers | requests | gateways | wire | heads | frames | upgrades | rpc | wrong-v2]…
  Tries random cases, all kinds unless some are named; CROSSWALK_CASES of each, from CROSSWALK_SEED on. Exits with 1 when one fails.`

const names = process.argv.slice(2)
const seed = seedOr(Date.now() % 2 ** 31)
const unhandled: unknown[] = []
process.on('unhandledRejection', (reason) => unhandled.push(reason))
const say = (line: string) => void process.stdout.write(`  ${line}\n`)

const inside = (fuzz: (cases: number, seed: number) => Promise<Fuzzed>) => async (cases: number) => {
  const { statuses } = await fuzz(cases, seed)
  say(
    Object.entries(statuses)
      .map(([status, count]) => `${status} × ${count}`)
      .join(', '),
  )
  return []
}

/** Random cases against the proxy as a process of its own, which report each failure with its smallest case. */
const outside = (fuzz: (fuzzing: Fuzzing) => Promise<readonly string[]>) => (cases: number) => fuzz({ cases, seed, start: {}, note: say })

const KINDS: Readonly<Record<string, readonly [cases: number, fuzz: (cases: number) => Promise<readonly string[]>]>> = {
  drafts: [20_000, inside(fuzzDrafts)],
  answers: [100_000, inside(fuzzAnswers)],
  requests: [100_000, inside(fuzzRequests)],
  gateways: [100_000, inside(fuzzGateways)],
  wire: [100_000, inside(fuzzWire)],
  'wrong-v2': [100_000, inside(fuzzWrongV2)],
  heads: [50_000, outside(fuzzHeads)],
  frames: [50_000, outside(fuzzFrames)],
  upgrades: [20_000, outside(fuzzUpgrades)],
  rpc: [100_000, outside(fuzzRpc)],
}

if (names.some((name) => !KINDS[name])) {
  process.stdout.write(`${USAGE}\n`)
  process.exit(names.includes('--help') ? 0 : 2)
}

const failures: string[] = []
for (const [name, [usual, fuzz]] of Object.entries(KINDS)) {
  if (names.length > 0 && !names.includes(name)) continue
  const cases = sizeOr(usual)
  // The seed is printed first, so that a crash does not lose it.
  process.stdout.write(`${name}: ${cases} cases, CROSSWALK_SEED=${seed}\n`)
  const begun = performance.now()
  failures.push(...(await fuzz(cases)))
  say(`${((performance.now() - begun) / 1000).toFixed(0)} s`)
}
failures.push(...unhandled.map((reason) => `unhandled rejection: ${(reason as Error)?.stack ?? reason}`))
// They come last, and each of their lines is marked, because the beginning of a long output is often cut.
for (const failure of failures) process.stdout.write(`${failure.replaceAll(/^/gm, '!! ')}\n`)
process.exitCode = failures.length === 0 ? 0 : 1
