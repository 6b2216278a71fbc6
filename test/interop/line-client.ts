import type { ChildProcessByStdio } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { decodeMessage, encodeMessage, errorOf, okOf } from '../compat/rpc/answer.ts'
import type { Client } from '../compat/rpc/carry.ts'

/** The end of a call as a program writes it; bytes are hexadecimal. */
type End =
  | { readonly message: string }
  | { readonly code: number; readonly said: string; readonly details: readonly { readonly type: string; readonly value: string }[] }

/** A client in another language: a program that reads each call as a line of JSON and writes its end as one. Calls are made one after the other. */
export function lineClient(child: ChildProcessByStdio<Writable, Readable, null>, closed = () => {}): Client {
  const waiting: { readonly resolve: (end: End) => void; readonly reject: (why: Error) => void }[] = []
  createInterface({ input: child.stdout }).on('line', (line) => waiting.shift()?.resolve(JSON.parse(line)))
  child.once('exit', () => {
    for (const { reject } of waiting) reject(new Error('the program has ended'))
  })
  return {
    async call({ method: { path, input, output }, message, headers }, token = '', { timeoutMs } = {}) {
      const bytes = Buffer.from(encodeMessage(input, message)).toString('hex')
      const timeout = timeoutMs === undefined ? null : timeoutMs / 1000
      const ended = new Promise<End>((resolve, reject) => waiting.push({ resolve, reject }))
      child.stdin.write(`${JSON.stringify({ path, input, output, metadata: headers, token, message: bytes, timeout })}\n`)
      const end = await ended
      if ('message' in end) return okOf(output, decodeMessage(output, Buffer.from(end.message, 'hex')))
      const details = end.details.map(({ type, value }) => ({ type, value: Buffer.from(value, 'hex') }))
      return errorOf(end.code, end.said, details)
    },
    close() {
      child.kill()
      closed()
    },
  }
}
