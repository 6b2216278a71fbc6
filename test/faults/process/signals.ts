import type { ServerResponse } from 'node:http'
import { until } from '../../stage/until.ts'
import { startUpstream } from '../../stage/upstream.ts'
import type { Fault } from '../fault.ts'
import { talk } from '../wire.ts'
import { metric, serve } from './child.ts'

const REQUESTS = 10_000
const AT_A_TIME = 250

/** A separate write for every client: none can be joined, and each must reach v2 once. */
const write = (name: string) => {
  const body = JSON.stringify({ name })
  return `POST /iam/v1/groups/${'a'.repeat(40)} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

/** Answers with the name that was sent, once the test allows it. */
function holdingUpstream() {
  const held: (() => void)[] = []
  let open = false
  const release = () => {
    open = true
    for (const answer of held.splice(0)) answer()
  }
  const behaviour = (_: unknown, response: ServerResponse, body: string) => {
    const answer = () => void response.end(JSON.stringify({ uid: 'a'.repeat(40), name: (JSON.parse(body) as { name: string }).name }))
    if (open) answer()
    else held.push(answer)
  }
  return { behaviour, release }
}

async function underLoad(): Promise<string> {
  const { behaviour, release } = holdingUpstream()
  const upstream = await startUpstream(behaviour)
  const minute = 60_000
  const child = await serve({
    'upstream-v2': upstream.url,
    'requests-in-flight': 2 * REQUESTS,
    'client-connections': 2 * REQUESTS,
    'call-timeout-ms': minute,
    'shutdown-ms': minute,
  })
  const clients: Promise<boolean>[] = []
  for (let begun = 0; begun < REQUESTS; begun += AT_A_TIME) {
    for (let nth = begun; nth < begun + AT_A_TIME; nth++) clients.push(isAnswered(child.url, `group-${nth}`))
    await until(async () => (await metric(child, 'crosswalk_requests_in_flight')) >= begun + AT_A_TIME)
  }
  const exit = child.stop('SIGTERM')
  await until(async () => refuses(child.url))
  release()
  const failed = (await Promise.all(clients)).filter((answered) => !answered).length
  const names = upstream.seen.map(({ body }) => body)
  const code = await exit
  await upstream.close()
  return `${failed} of ${REQUESTS} failed, ${names.length - new Set(names).size} written twice, exit code ${code}`
}

async function isAnswered(url: string, name: string): Promise<boolean> {
  const { answers } = await talk(url, write(name), 1)
  return answers[0]?.status === 200 && (JSON.parse(answers[0].body) as { name: string }).name === name
}

/**
 * True when the proxy has handled the signal and refuses new clients.
 * It requests what the proxy answers itself, because v2 does not answer yet.
 */
async function refuses(url: string): Promise<boolean> {
  try {
    await fetch(`${url}/iam/v1/groups`, { method: 'OPTIONS', headers: { connection: 'close' } })
    return false
  } catch {
    return true
  }
}

export const signalFaults: readonly Fault[] = [
  {
    name: `SIGTERM with ${REQUESTS} requests in flight`,
    expected: `0 of ${REQUESTS} failed, 0 written twice, exit code 0`,
    full: true,
    see: underLoad,
  },
]
