import { type ChildProcessByStdio, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'
import { create, type DescService, fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { type CallOptions, ConnectError, createClient, type Transport } from '@connectrpc/connect'
import {
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from '@connectrpc/connect-node'
import { readFacts } from '../../../src/grpc/facts.ts'
import { openRpc, protoFiles } from '../../../src/grpc/proto-files.ts'
import { type Client, connectAnswer, type Detail, decodeMessage, encodeMessage, errorOf, okOf } from '../../contract/rpc/call.ts'
import { writeMessage } from '../../contract/rpc/protojson.ts'
import { PATH, temporaryFolder } from '../../stage/programs.ts'

/** Runs a program in the folder of the Go module, unless in another, within two minutes or its own limit. Returns its exit code and what it printed. */
export async function run(
  name: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; limitMs?: number } = {},
) {
  const { env, cwd = 'test/programs/interop/go', limitMs = 120_000 } = options
  const child = spawn(name, args, { cwd, env: { ...process.env, PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'], timeout: limitMs })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
  }
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, text }
}

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

/** Compresses every request. */
const GZIP = { sendCompression: compressionGzip, compressMinBytes: 0 }

type TransportOf = (baseUrl: string, sessionManager: Http2SessionManager) => Transport

/** The protocols of connect-node. */
export const TRANSPORTS: Readonly<Record<string, TransportOf>> = {
  'gRPC over HTTP/2': (baseUrl, sessionManager) => createGrpcTransport({ baseUrl, sessionManager, ...GZIP }),
  'gRPC-Web over HTTP/1.1': (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '1.1' }),
  'gRPC-Web over HTTP/2': (baseUrl, sessionManager) => createGrpcWebTransport({ baseUrl, httpVersion: '2', sessionManager, ...GZIP }),
  'Connect with JSON over HTTP/1.1': (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: false, ...GZIP }),
  'Connect over HTTP/2': (baseUrl, sessionManager) => createConnectTransport({ baseUrl, httpVersion: '2', sessionManager }),
}

const { registry } = openRpc([], readFacts())

type Ask = (message: Message, options: CallOptions) => Promise<Message>

/** Speaks a protocol by connect-node, with messages by protobuf-es. */
export function connectNodeClient(url: string, transportOf: TransportOf): Client {
  const sessions = new Http2SessionManager(url)
  const transport = transportOf(url, sessions)
  return {
    async call({ method: { path, input, output }, message, headers }, token, options = {}) {
      const [, service = '', name = ''] = path.split('/')
      const described = registry.getService(service) as DescService
      const method = described.methods.find((one) => one.name === name)
      if (!method) throw new Error(`there is no method ${path}`)
      const ask = (createClient(described, transport) as unknown as Record<string, Ask>)[method.localName] as Ask
      const metadata = { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
      try {
        const answer = await ask(fromBinary(method.input, encodeMessage(input, message)), { headers: metadata, ...options })
        return okOf(output, decodeMessage(output, toBinary(method.output, answer)))
      } catch (thrown) {
        const { code, rawMessage, details } = ConnectError.from(thrown)
        return errorOf(code, rawMessage, details as Detail[])
      }
    },
    close: () => sessions.abort(),
  }
}

const runOfCurlClient = promisify(execFile)

/** Speaks Connect with JSON by curl, as a script does. */
export function curlClient(url: string): Client {
  return {
    async call({ method: { path, input, output }, message }, token, { timeoutMs } = {}) {
      const headers = ['content-type: application/json', ...(token === undefined ? [] : [`authorization: Bearer ${token}`])]
      if (timeoutMs !== undefined) headers.push(`connect-timeout-ms: ${timeoutMs}`)
      const flags = ['-sS', '--compressed', ...headers.flatMap((header) => ['-H', header])]
      const { stdout } = await runOfCurlClient('curl', [...flags, '-d', JSON.stringify(writeMessage(input, message)), url + path])
      return connectAnswer(output, JSON.parse(stdout))
    },
    close: () => {},
  }
}

/** Debian's Python: no other knows Debian's packages. */
const PYTHON = '/usr/bin/python3'

/** True if grpcio is installed. If not, prints what is skipped. */
export function hasGrpcio(): boolean {
  const found = spawnSync(PYTHON, ['-c', 'import grpc, google.protobuf']).status === 0
  if (!found) console.warn("SKIPPED: calls of grpcio, which comes with Debian's package python3-grpcio")
  return found
}

/** Speaks gRPC by Debian's grpcio, with messages by Google's protobuf, compressed by gzip. */
export function pythonClient(url: string): Client {
  const { path: directory, remove } = temporaryFolder('python')
  const descriptors = join(directory, 'v1.binpb')
  writeFileSync(
    descriptors,
    toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [...protoFiles([readFacts().v1])] })),
  )
  const child = spawn(PYTHON, ['test/programs/interop/python/client.py', new URL(url).host, descriptors], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  return lineClient(child, remove)
}
