import { startCrosswalk, startSandbox } from '../proxies.ts'
import { atMost, type Figure, type Scenario, shown } from '../report/figure.ts'

const LISTS = ['/registry/v1/repos', '/iam/v1/rolebindings', '/iam/v1/identityProviders', '/iam/v1/groups']
const OWNER = { authorization: 'Bearer demo-owner' }

/** Point 8: v2 calls of lists whose v1 rows have more members than v2's list. Each is asked for twice, from the sandbox. */
export const calls: Scenario = async () => {
  const sandbox = await startSandbox()
  const figures: Figure[] = []
  for (const path of LISTS) {
    const proxy = await startCrosswalk(sandbox.url)
    const ask = async () => {
      const before = await callsOf(proxy.adminUrl)
      const { items } = (await (await fetch(proxy.url + path, { headers: OWNER })).json()) as { items: readonly unknown[] }
      return { rows: items.length, calls: (await callsOf(proxy.adminUrl)) - before }
    }
    const cold = await ask()
    const warm = await ask()
    const together = await callsTogether(proxy.url + path, () => callsOf(proxy.adminUrl))
    figures.push(
      shown(8, `GET ${path}: rows`, cold.rows, ''),
      shown(8, `GET ${path}: v2 calls, cold`, cold.calls, ''),
      atMost(8, `GET ${path}: v2 calls, warm`, warm.calls, '', Math.max(1, cold.calls)),
      atMost(8, `GET ${path}: v2 calls of 10 at once, warm`, together, '', 10 * warm.calls),
    )
    await proxy.stop()
  }
  await sandbox.stop()
  return [...figures, ...(await polling())]
}

const POLLERS = 20
const POLLS = 20
const LATENCY = 20

/** Measures the cost of the rule that a read joins only calls that began after it arrived. The pollers of one caller repeat at once. */
async function polling(): Promise<readonly Figure[]> {
  const sandbox = await startSandbox(LATENCY)
  const proxy = await startCrosswalk(sandbox.url)
  const poll = async () => {
    for (let nth = 0; nth < POLLS; nth += 1) await (await fetch(`${proxy.url}/iam/v1/groups`, { headers: OWNER })).arrayBuffer()
  }
  await poll()
  const before = await callsOf(proxy.adminUrl)
  await Promise.all(Array.from({ length: POLLERS }, poll))
  const calls = (await callsOf(proxy.adminUrl)) - before
  await proxy.stop()
  await sandbox.stop()
  return [shown(8, `GET /iam/v1/groups: v2 calls of ${POLLERS * POLLS} reads by ${POLLERS} pollers, v2 takes ${LATENCY} ms`, calls, '')]
}

async function callsTogether(url: string, count: () => Promise<number>): Promise<number> {
  const before = await count()
  await Promise.all(Array.from({ length: 10 }, async () => (await fetch(url, { headers: OWNER })).arrayBuffer()))
  return (await count()) - before
}

/** Returns the v2 calls so far, by the proxy's own count. */
async function callsOf(adminUrl: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  const counts = [...text.matchAll(/^crosswalk_v2_calls_total\{[^}]*\} (\d+)$/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}
