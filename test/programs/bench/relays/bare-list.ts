import http from 'node:http'
import { PAGE_ROWS } from '../rows.ts'

/**
 * Reads the pages that Crosswalk reads for a list, and does nothing with them: `node bare-list.js <origin> <rows> <parallel> <times>`.
 * Prints the milliseconds of each list as JSON. What it takes above the ideal is the timers of the upstream and the way there.
 */
const [origin = '', ...numbers] = process.argv.slice(2)
const [rows = 0, parallel = 1, times = 1] = numbers.map(Number)
const agent = new http.Agent({ keepAlive: true, maxSockets: parallel })
const windows = Math.ceil((rows - PAGE_ROWS) / (PAGE_ROWS - 1))

function page(skip: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const path = `/registry/v2/tags?page_size=${PAGE_ROWS}${skip > 0 ? `&skip=${skip}` : ''}`
    http.get(origin + path, { agent }, (answer) => answer.on('end', resolve).resume()).on('error', reject)
  })
}

async function list(): Promise<number> {
  const started = performance.now()
  await page(0)
  await Promise.all(Array.from({ length: windows }, (_, at) => page((at + 1) * (PAGE_ROWS - 1))))
  return performance.now() - started
}

const all: number[] = []
for (let time = 0; time < times; time += 1) all.push(await list())
process.stdout.write(JSON.stringify(all))
process.exit()
