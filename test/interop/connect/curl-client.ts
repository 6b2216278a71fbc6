import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Client } from '../../compat/rpc/carry.ts'
import { connectAnswer } from '../../compat/rpc/connect-client.ts'
import { writeMessage } from '../../compat/rpc/protojson.ts'

const run = promisify(execFile)

/** Speaks Connect with JSON by curl, as a script does. */
export function curlClient(url: string): Client {
  return {
    async call({ method: { path, input, output }, message }, token, { timeoutMs } = {}) {
      const headers = ['content-type: application/json', ...(token === undefined ? [] : [`authorization: Bearer ${token}`])]
      if (timeoutMs !== undefined) headers.push(`connect-timeout-ms: ${timeoutMs}`)
      const flags = ['-sS', '--compressed', ...headers.flatMap((header) => ['-H', header])]
      const { stdout } = await run('curl', [...flags, '-d', JSON.stringify(writeMessage(input, message)), url + path])
      return connectAnswer(output, JSON.parse(stdout))
    },
    close: () => {},
  }
}
