import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { afterAll, expect, it } from 'vitest'
import { withSection } from '../../docs/generated.ts'
import { bearer, startProxy } from '../../stage/stage.ts'
import { startUpstream, type Upstream } from '../../stage/upstream.ts'
import { isInstalled, type Running, startServer } from '../garden/servers.ts'
import { envoy, nginxLua, nginxNjs } from './gateways.ts'
import { PROBES, type Probe, type V1Answer, type V2Answer } from './probes.ts'

const PAGE = new URL('../../../docs/why/comparison.md', import.meta.url).pathname

/** Those that translate, with the heads of their columns. */
const GATEWAYS = [
  { name: 'nginx, Lua and cjson', kind: nginxLua },
  { name: 'nginx, njs', kind: nginxNjs },
  { name: 'Envoy, Lua and dkjson', kind: envoy },
] as const

let answer: (url: string) => V2Answer = () => ({ status: 200, body: {} })
const running: (Running | { stop(): Promise<void> })[] = []
afterAll(async () => {
  for (const one of running) await one.stop()
})

function send(response: ServerResponse, { status, body }: V2Answer): void {
  const isHtml = typeof body === 'string'
  response.writeHead(status, { 'content-type': isHtml ? 'text/html' : 'application/json' }).end(isHtml ? body : JSON.stringify(body))
}

async function played(url: string, probe: Probe, upstream: Upstream): Promise<string> {
  answer = probe.v2
  upstream.seen.length = 0
  const headers = { ...bearer('a'), ...(probe.body !== undefined && { 'content-type': 'application/json' }) }
  const reply = await fetch(url + probe.path, { method: probe.method, headers, ...(probe.body !== undefined && { body: probe.body }) })
  const text = await reply.text()
  const verdict = probe.judge({ status: reply.status, text, json: decoded(text) } satisfies V1Answer, upstream.seen)
  return verdict === true ? 'kept' : verdict
}

function decoded(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A new table makes this fail; `npm run losses -- -u` writes it into the page. */
it.skipIf(GATEWAYS.some(({ kind }) => !isInstalled(kind)))('loses in each gateway what docs/why/comparison.md says', async () => {
  const upstream = await startUpstream((request, response) => {
    if (request.url?.endsWith('/refused')) send(response, { status: 404, body: {} })
    else send(response, answer(request.url ?? ''))
  })
  running.push({ stop: () => upstream.close() })
  const port = Number(new URL(upstream.url).port)
  const columns: { name: string; url: string }[] = []
  for (const { name, kind } of GATEWAYS) {
    const server = await startServer(kind, port)
    running.unshift(server)
    columns.push({ name, url: `http://127.0.0.1:${server.port}` })
  }
  const proxy = await startProxy({ 'upstream.v2': upstream.url })
  running.unshift({ stop: () => proxy.close() })
  columns.push({ name: 'Crosswalk', url: proxy.url })
  const rows: string[] = []
  for (const probe of PROBES) {
    const cells: string[] = []
    for (const { url } of columns) cells.push(await played(url, probe, upstream))
    rows.push(`| ${[probe.promise, ...cells].join(' | ')} |`)
  }
  const heads = ['What v1 clients rely on', ...columns.map(({ name }) => name)]
  const table = [`| ${heads.join(' | ')} |`, `|${heads.map(() => '---').join('|')}|`, ...rows].join('\n')
  console.log(table)
  await expect(withSection(readFileSync(PAGE, 'utf8'), 'losses', table)).toMatchFileSnapshot(PAGE)
})
