import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export const ORG = '588391a69873a06cb99a4ed5a59102644f751ea4'
export const REPO = `${ORG}/00df03e05eba2b78`

/** Creates a file that is deleted after the test. */
export async function file(name: string, text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'replay-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, name), text)
  return join(folder, name)
}

/** Writes a line of the `combined` format of nginx and Apache, at the second of 10 October 2026, 13:55 UTC. */
export function logLine(second: number, user: string, request: string, status = 200): string {
  const time = `10/Oct/2026:15:55:${String(second).padStart(2, '0')} +0200`
  return `192.0.2.7 - ${user} [${time}] "${request}" ${status} 512 "-" "curl/8.5.0 \\"quoted\\""`
}

interface Sent {
  readonly method?: string
  readonly path: string
  readonly token?: string
  readonly body?: string
  readonly at?: string
}

/** Writes an HTTP archive as browsers and proxies do. */
export function har(requests: readonly Sent[]): string {
  const entries = requests.map(({ method = 'GET', path, token, body, at = '2026-10-10T13:55:00Z' }) => ({
    startedDateTime: at,
    time: 12,
    request: {
      method,
      url: `https://api.example.com${path}`,
      httpVersion: 'HTTP/1.1',
      headers: [
        ...(token === undefined ? [] : [{ name: 'Authorization', value: `Bearer ${token}` }]),
        { name: 'Cookie', value: `session=${token}` },
      ],
      ...(body !== undefined && { postData: { mimeType: 'application/json', text: body } }),
    },
    response: { status: 200, content: { text: `{"token":"${token}"}` } },
  }))
  return JSON.stringify({ log: { version: '1.2', creator: { name: 'test', version: '1' }, entries } })
}
