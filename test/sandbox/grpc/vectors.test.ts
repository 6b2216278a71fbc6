import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import protojson from 'protobufjs/ext/protojson.js'
import type { Message } from 'protobufjs/light.js'
import { expect, test } from 'vitest'
import { grpcApi } from '../../../src/sandbox/grpc/server.ts'

/** A message as the vendor's Go types write it; `defaultNames` are JSON's own names, where some differ from those of the proto. */
type Vector = { readonly hex: string; readonly json: unknown; readonly defaultNames?: unknown }
type Vectors = { readonly messages: Readonly<Record<string, { readonly vectors: readonly Vector[] }>> }

const { root } = grpcApi()

/** Go writes the members of oneofs last, protobufjs writes every field by its number. */
const sameBytes = (one: Buffer, other: Buffer): boolean => Buffer.compare(one.toSorted(), other.toSorted()) === 0

const problemsOf = (name: string, { hex, json, defaultNames }: Vector): readonly string[] => {
  const type = root.lookupType(name)
  const written = (message: Message): Buffer => Buffer.from(type.encode(message).finish())
  const bytes = Buffer.from(hex, 'hex')
  const read = type.decode(bytes)
  const shown = protojson.toJson(type, read)
  const again = written(protojson.fromJson(type, json))
  const checks = {
    'writes other bytes': again.equals(written(read)) && sameBytes(again, bytes),
    'reads its own JSON otherwise': again.equals(written(protojson.fromJson(type, shown))),
    'shows other JSON': defaultNames === undefined || isDeepStrictEqual(shown, defaultNames),
  }
  return Object.entries(checks).flatMap(([problem, holds]) => (holds ? [] : [`${name} ${hex}: ${problem}`]))
}

test.each(['v1', 'v2'])('reads and writes the messages of %s byte for byte as the vendor does', (version) => {
  const { messages }: Vectors = JSON.parse(readFileSync(`test/rpc/vectors/${version}.json`, 'utf8'))
  const all = Object.entries(messages).flatMap(([name, { vectors }]) => vectors.flatMap((vector) => problemsOf(name, vector)))
  expect(all).toEqual([])
})
