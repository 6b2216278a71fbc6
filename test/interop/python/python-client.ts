import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { create, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { readFacts } from '../../../src/grpc/facts.ts'
import { protoFiles } from '../../../src/grpc/proto-files.ts'
import { decodeMessage, encodeMessage, errorOf, okOf } from '../../compat/rpc/answer.ts'
import type { Client } from '../../compat/rpc/carry.ts'

/** Debian's Python: no other knows Debian's packages. */
const PYTHON = '/usr/bin/python3'

/** The end of a call as `client.py` writes it; bytes are hexadecimal. */
type End =
  | { readonly message: string }
  | { readonly code: number; readonly said: string; readonly details: readonly { readonly type: string; readonly value: string }[] }

/** True if grpcio is installed. If not, prints what is skipped. */
export function hasGrpcio(): boolean {
  const found = spawnSync(PYTHON, ['-c', 'import grpc, google.protobuf']).status === 0
  if (!found) console.warn("SKIPPED: calls of grpcio, which comes with Debian's package python3-grpcio")
  return found
}

/** Speaks gRPC by Debian's grpcio, with messages by Google's protobuf, compressed by gzip. Calls are made one after the other. */
export function pythonClient(url: string): Client {
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-python-'))
  const descriptors = join(directory, 'v1.binpb')
  writeFileSync(
    descriptors,
    toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [...protoFiles([readFacts().v1])] })),
  )
  const child = spawn(PYTHON, ['test/interop/python/client.py', new URL(url).host, descriptors], { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting: ((end: End) => void)[] = []
  createInterface({ input: child.stdout }).on('line', (line) => waiting.shift()?.(JSON.parse(line)))
  return {
    async call({ method: { path, input, output }, message, headers }, token, { timeoutMs } = {}) {
      const metadata = { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
      const bytes = Buffer.from(encodeMessage(input, message)).toString('hex')
      const timeout = timeoutMs === undefined ? null : timeoutMs / 1000
      const ended = new Promise<End>((resolve) => waiting.push(resolve))
      child.stdin.write(`${JSON.stringify({ path, input, output, metadata, message: bytes, timeout })}\n`)
      const end = await ended
      if ('message' in end) return okOf(output, decodeMessage(output, Buffer.from(end.message, 'hex')))
      const details = end.details.map(({ type, value }) => ({ type, value: Buffer.from(value, 'hex') }))
      return errorOf(end.code, end.said, details)
    },
    close() {
      child.kill()
      rmSync(directory, { recursive: true })
    },
  }
}
