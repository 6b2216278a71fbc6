import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Config } from '../../../src/app/config/settings.ts'
import { startSandbox } from '../../../src/sandbox/start.ts'
import { bearer, startProxy } from '../../stage/proxy.ts'
import { startUpstream } from '../../stage/upstream.ts'
import type { Fault } from '../fault.ts'
import { say } from '../say.ts'
import { talk } from '../wire.ts'
import { type Behaviour, inWorld } from '../world.ts'

const TAGS = 1000
const LATER = 4 * 24 * 60 * 60 * 1000

/** Passes every page of a list to `between` before it is served. */
type Between = (page: number, sandbox: SandboxApi) => Promise<void>

interface SandboxApi {
  readonly repo: string
  call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>
}

/**
 * Reads the 1,000 tags of a repo of the sandbox through the proxy, while `between` changes them.
 * Returns how the read ended, and whether every tag that existed throughout was read once.
 */
async function readWhile(between: Between, settings: Partial<Config>): Promise<string> {
  const sandbox = await startSandbox({ port: 0, data: 'large', tags: TAGS })
  const call: SandboxApi['call'] = async (method, path, body) => {
    const init = { method, headers: bearer(sandbox.tokens.owner), ...(body !== undefined && { body: JSON.stringify(body) }) }
    const text = await (await fetch(sandbox.url + path, init)).text()
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
  }
  const found = (await call('GET', '/registry/v2/repos?name=large')).repos as { uid: string }[]
  const repo = found[0]?.uid ?? ''
  const list = async () => {
    const uids: string[] = []
    for (let token = ''; ; ) {
      const page = await call('GET', `/registry/v2/tags?uidp.children_of=${encodeURIComponent(repo)}&page_size=200&page_token=${token}`)
      uids.push(...(page.tags as { uid: string }[]).map(({ uid }) => uid))
      token = String(page.nextPageToken ?? '')
      if (token === '') return uids
    }
  }
  const before = await list()
  let pages = 0
  const pass = async (url: string, response: ServerResponse) => {
    await between(pages++, { repo, call })
    const answer = await fetch(sandbox.url + url, { headers: bearer(sandbox.tokens.owner) })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  }
  const front = await startUpstream((request, response) => {
    pass(request.url ?? '', response).catch(() => response.destroy())
  })
  const proxy = await startProxy({ 'upstream.v2': front.url, ...settings })
  try {
    const target = `/registry/v1/tags?uidp.children_of=${encodeURIComponent(repo)}`
    const { answers } = await talk(proxy.url, `GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
    const [answer] = answers
    if (answer?.status !== 200 || answer.broken) return say(answer)
    const after = new Set(await list())
    const read = (JSON.parse(answer.body) as { items: { id: string }[] }).items.map(({ id }) => id)
    return verdict(
      read,
      before.filter((uid) => after.has(uid)),
    )
  } finally {
    await proxy.close()
    await front.close()
    await sandbox.close()
  }
}

function verdict(read: readonly string[], stayed: readonly string[]): string {
  const known = new Set(read)
  const lost = stayed.filter((uid) => !known.has(uid)).length
  return `200; of the tags that stayed ${lost} lost, ${read.length - known.size} doubled, ${isSorted(read) ? 'in order' : 'not in order'}`
}

function isSorted(uids: readonly string[]): boolean {
  return uids.every((uid, at) => at === 0 || (uids[at - 1] ?? '') < uid)
}

const WHOLE = '200; of the tags that stayed 0 lost, 0 doubled, in order'

const changing: Between = async (page, { repo, call }) => {
  const { tags } = (await call('GET', `/registry/v2/tags?uidp.children_of=${encodeURIComponent(repo)}&page_size=200`)) as {
    tags: { uid: string }[]
  }
  for (const { uid } of tags.slice(0, 3)) await call('DELETE', `/registry/v2/tags/${uid}`)
  for (let nth = 0; nth < 5; nth++) {
    await call('POST', `/registry/v2/tags?parent=${encodeURIComponent(repo)}`, {
      name: `new-${page}-${nth}`,
      digest: `sha256:${'a'.repeat(64)}`,
    })
  }
}

/** Endless pages, each a copy of one of three. */
const looping: Behaviour = (request, response) => {
  const token = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page_token') ?? '0')
  const groups = Array.from({ length: 200 }, (_, at) => ({ uid: `${token}${String(at).padStart(39, '0')}` }))
  response.end(JSON.stringify({ groups, nextPageToken: String((token + 1) % 3 || 3) }))
}

/** A v2 service that stops listening after its second page and returns on the same port. */
async function restarted(settings: Partial<Config>): Promise<string> {
  let pages = 0
  let stop = () => {}
  const page: Behaviour = (request, response) => {
    const at = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page_token') ?? '0')
    const groups = Array.from({ length: 200 }, (_, row) => ({ uid: String(at * 200 + row).padStart(40, '0') }))
    pages += 1
    if (pages === 2) response.once('finish', () => stop())
    response.end(JSON.stringify({ groups, nextPageToken: at < 4 ? String(at + 1) : '' }))
  }
  return inWorld(page, settings, async ({ proxy, upstream }) => {
    const { port } = upstream.server.address() as AddressInfo
    stop = () => {
      upstream.server.close()
      upstream.server.closeAllConnections()
    }
    const ask = async () => say((await talk(proxy.url, 'GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')).answers[0])
    const first = await ask()
    await new Promise<void>((resolve) => upstream.server.listen(port, '127.0.0.1', resolve))
    return `${first}, then ${await ask()}`
  })
}

const STREAMED: Partial<Config> = { 'limits.bufferedRows': 0 }

export const listFaults: readonly Fault[] = [
  {
    name: 'a page token that loops',
    expected: '409/10',
    see: () =>
      inWorld(looping, { 'limits.bufferedRows': 10_000 }, async ({ proxy }) =>
        say((await talk(proxy.url, 'GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')).answers[0]),
      ),
  },
  { name: 'rows that come and go while a list is read', expected: [WHOLE, '409/10'], see: () => readWhile(changing, {}) },
  { name: 'the same while it is streamed', expected: [WHOLE, 'broken off'], see: () => readWhile(changing, STREAMED) },
  {
    name: 'page tokens that expire while a list is read',
    expected: [WHOLE, '409/10'],
    see: () => readWhile(async (page, { call }) => void (page === 2 && (await call('POST', '/-/clock', { advanceMs: LATER }))), {}),
  },
  { name: 'v2 restarting in the middle of a list', expected: '503/14, then 200, 1000 rows', see: () => restarted({}) },
  { name: 'v2 restarting in the middle of a stream', expected: 'broken off, then 200, 1000 rows', see: () => restarted(STREAMED) },
]
