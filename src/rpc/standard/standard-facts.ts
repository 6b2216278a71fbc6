import { readFileSync } from 'node:fs'
import { create, createFileRegistry, type FileRegistry } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { type Facts, factsFile, renamedFacts } from '../facts.ts'
import { protoFiles } from '../proto-files.ts'

/** The packages of reflection. Clients ask the older one where a server does not know the newer. */
export const REFLECTION = ['grpc.reflection.v1', 'grpc.reflection.v1alpha'] as const

export const HEALTH = 'grpc.health.v1'

let opened: FileRegistry | undefined

/** Returns the messages and services of health and reflection, built when they are first needed. */
export function standardRegistry(): FileRegistry {
  if (opened) return opened
  const facts: Facts = JSON.parse(readFileSync(factsFile('standard'), 'utf8'))
  const older = renamedFacts(facts, (name) => name.replace(...REFLECTION))
  opened = createFileRegistry(create(FileDescriptorSetSchema, { file: [...protoFiles([facts, older])] }))
  return opened
}
