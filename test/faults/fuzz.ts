import { fuzzAnswers } from './fuzz/answers.ts'
import { type Fuzzed, fuzzRequests } from './fuzz/over-http.ts'
import { CASES, seedOr } from './fuzz/size.ts'

const seed = seedOr(Date.now() % 2 ** 31)
const unhandled: unknown[] = []
process.on('unhandledRejection', (reason) => unhandled.push(reason))

/** Says what is tried before it is tried: a crash must not take the seed with it. */
async function run(name: string, fuzz: (cases: number, seed: number) => Promise<Fuzzed>): Promise<void> {
  process.stdout.write(`${name}: ${CASES} cases, CROSSWALK_SEED=${seed}\n`)
  const begun = performance.now()
  const { statuses } = await fuzz(CASES, seed)
  const told = Object.entries(statuses).map(([status, count]) => `${status} × ${count}`)
  process.stdout.write(`  ${((performance.now() - begun) / 1000).toFixed(0)} s; ${told.join(', ')}\n`)
}

await run('v2 answers', fuzzAnswers)
await run('requests', fuzzRequests)
for (const reason of unhandled) process.stdout.write(`unhandled rejection: ${(reason as Error)?.stack ?? reason}\n`)
process.exitCode = unhandled.length === 0 ? 0 : 1
