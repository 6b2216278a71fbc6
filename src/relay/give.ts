import type { ServerResponse } from 'node:http'
import { type Head, relayable } from '../heads.ts'

/**
 * Writes the head of an answer to a client, or returns the problem and sends nothing.
 * Every head from a service passes through here or through `relayable`.
 */
export function giveHead(response: ServerResponse, head: Head): { readonly problem: string } | undefined {
  const isHttp2 = 'stream' in response
  const checked = relayable(isHttp2 ? 2 : 1, head)
  if ('problem' in checked) return checked
  try {
    if (isHttp2) response.writeHead(checked.status, [...checked.headers])
    else response.writeHead(checked.status, checked.reason, [...checked.headers])
    return undefined
  } catch (error) {
    return { problem: (error as NodeJS.ErrnoException).code ?? 'its head' }
  }
}
