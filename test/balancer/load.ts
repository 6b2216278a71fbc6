import http from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'

export interface Load {
  /** Number of answered requests. */
  readonly requests: number
  /** What went wrong, one line for each request. */
  readonly failures: readonly string[]
  /** Marks of the writes that were sent. The service must have received each exactly once. */
  readonly writes: readonly string[]
}

interface Answer {
  readonly status: number
  readonly body: string
}

export interface LoadOptions {
  readonly url: string
  readonly token: string
  /** Uid of the organization in which repos are created. */
  readonly organization: string
  /** Number of clients. Each has a credential of its own, keeps one connection alive and sends one request at a time. */
  readonly clients: number
  /** The load lasts for at least this many requests, and until the signal fires. */
  readonly atLeast: number
  readonly until: AbortSignal
}

/** Runs mixed traffic of v1 clients. Every round creates, reads, changes, lists and deletes a repo, and checks each answer. */
export async function runLoad({ url, token, organization, clients, atLeast, until }: LoadOptions): Promise<Load> {
  const load = { requests: 0, failures: [] as string[], writes: [] as string[] }
  const client = async (at: number) => {
    const name = `load-${at}`
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    const send = async (method: string, path: string, body?: unknown, mark?: string) => {
      if (mark !== undefined) load.writes.push(mark)
      const answer = await exchange({ url: url + path, method, token: `${token}-${at}`, agent }, body).catch((error: Error) => ({
        status: 0,
        body: error.message,
      }))
      load.requests += 1
      if (answer.status !== 200) load.failures.push(`${method} ${path}: ${answer.status} ${answer.body.slice(0, 200)}`)
      return answer.status === 200 ? JSON.parse(answer.body) : {}
    }
    const check = (path: string, right: boolean) => {
      if (!right) load.failures.push(`${path}: a wrong answer`)
    }
    for (let round = 0; load.requests < atLeast || !until.aborted; round += 1) {
      const mark = `${name}-${round}`
      const { id } = await send('POST', `/registry/v1/repos/${organization}`, { name: mark }, `POST ${mark}`)
      const repo = `/registry/v1/repos/${encodeURIComponent(id)}`
      const byId = `/registry/v1/repos?id=${encodeURIComponent(id)}`
      check(repo, (await send('GET', byId)).items?.[0]?.name === mark)
      await send('PUT', repo, { name: mark, description: mark }, `PATCH ${mark}`)
      check(byId, (await send('GET', byId)).items?.[0]?.description === mark)
      check('groups', (await send('GET', '/iam/v1/groups')).items?.length > 0)
      await send('DELETE', repo, undefined, `DELETE ${id}`)
      await turn()
    }
    agent.destroy()
  }
  await Promise.all(Array.from({ length: clients }, (_, at) => client(at)))
  return load
}

interface Ask {
  readonly url: string
  readonly method: string
  readonly token: string
  readonly agent?: http.Agent
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends one request without a retry and returns its whole answer. Rejects if the connection breaks. */
export function exchange(
  { url, method, token, agent, headers }: Ask,
  body?: unknown,
): Promise<Answer & { readonly headers: http.IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const framing = text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    const request = http.request(
      url,
      { method, agent, headers: { authorization: `Bearer ${token}`, ...headers, ...framing } },
      (answer) => {
        let received = ''
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          received += chunk
        })
        answer.once('end', () => resolve({ status: answer.statusCode ?? 0, body: received, headers: answer.headers }))
        answer.once('error', reject)
      },
    )
    request.once('error', reject)
    request.end(text)
  })
}
