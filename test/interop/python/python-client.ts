import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { create, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { readFacts } from '../../../src/grpc/facts.ts'
import { protoFiles } from '../../../src/grpc/proto-files.ts'
import type { Client } from '../../compat/rpc/carry.ts'
import { lineClient } from '../line-client.ts'

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
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-python-'))
  const descriptors = join(directory, 'v1.binpb')
  writeFileSync(
    descriptors,
    toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [...protoFiles([readFacts().v1])] })),
  )
  const child = spawn(PYTHON, ['test/interop/python/client.py', new URL(url).host, descriptors], { stdio: ['pipe', 'pipe', 'inherit'] })
  return lineClient(child, () => rmSync(directory, { recursive: true }))
}
