import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Child, LOAD_CORE } from '../child.ts'
import { startCrosswalk } from '../proxies.ts'
import { startNginx } from '../relays/nginx.ts'

/** The service that nginx never asks. */
const NOWHERE = 'http://127.0.0.1:1'

/**
 * Starts nginx with the answers that a v2 service gives to the calls for one v1 request, as files that the kernel keeps in memory.
 * It answers nothing else, so that a request with other calls fails.
 */
export async function startRecorded(v2: string, path: string, headers: Readonly<Record<string, string>>): Promise<Child> {
  const answers = [...(await record(v2, path, headers))]
  const names = answers.map(([target], nth) => `${JSON.stringify(target)} answer-${nth};`)
  const http = `map_hash_bucket_size 4096; map $request_uri $answer { default none; ${names.join(' ')} }`
  const server = 'default_type application/json; root .; open_file_cache max=100; location / { try_files /$answer =404; }'
  const files = Object.fromEntries(answers.map(([, body], nth) => [`answer-${nth}`, body]))
  return startNginx(NOWHERE, { listen: '', http, server, files }, LOAD_CORE)
}

/** Asks once through Crosswalk. Returns v2's answers by the targets of the calls. */
async function record(v2: string, path: string, headers: Readonly<Record<string, string>>): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>()
  const pass = async (target: string, asked: IncomingHttpHeaders, response: ServerResponse) => {
    const { authorization = '' } = asked
    const answer = await fetch(v2 + target, { headers: { authorization } })
    const body = await answer.text()
    // Crosswalk asks at its start whether v2 is there.
    if (answer.ok && asked['user-agent'] !== 'crosswalk') answers.set(target, body)
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body)
  }
  const recorder = createServer(({ url = '', headers: asked }, response) => void pass(url, asked, response))
  await new Promise<void>((resolve) => recorder.listen(0, '127.0.0.1', resolve))
  const proxy = await startCrosswalk(`http://127.0.0.1:${(recorder.address() as AddressInfo).port}`)
  const asked = await fetch(proxy.url + path, { headers })
  if (!asked.ok) throw new Error(`GET ${path}: ${await asked.text()}`)
  await asked.arrayBuffer()
  await proxy.stop()
  recorder.close()
  return answers
}
