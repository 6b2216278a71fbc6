import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { misuse, named, systemReason } from '../errors.ts'
import { type Contract, contractOf } from './public-contract.ts'
import { isNode } from './schema-shape.ts'

/** A contract, and what its document says that cannot be read. */
export interface ReadContract {
  readonly contract: Contract
  readonly problems: readonly string[]
}

const PACKAGE = '@redocly/openapi-core'

/**
 * Reads an OpenAPI document (2, 3.0 or 3.1, in JSON or YAML) with the files that it refers to. Nothing is fetched from elsewhere.
 * Rejects with a sentence if the file is absent or is no such document, or if the package that reads it is not installed.
 */
export async function readDocument(path: string): Promise<ReadContract> {
  await readFile(path).catch((error: unknown) => {
    throw misuse(`a document cannot be read: ${systemReason(named(error, path))}`)
  })
  const { bundle, createConfig } = await loadReader()
  const config = await createConfig({ resolve: { http: { customFetch: refuseFetch, headers: [] } } })
  const bundled = await bundle({ ref: resolve(path), config }).catch((error: Error) => {
    throw misuse(`${path} is no OpenAPI document: ${firstLine(error.message)}`)
  })
  const document: unknown = bundled.bundle.parsed
  if (!isNode(document) || !isNode(document['paths'])) throw misuse(`${path} has no paths, so it is no OpenAPI document of an API`)
  return { contract: contractOf(document), problems: bundled.problems.map(({ message }) => `${path}: ${firstLine(message)}`) }
}

/** It is not installed with this package: only this command needs it, and it is half as large as all the rest. */
async function loadReader() {
  try {
    return await import('@redocly/openapi-core')
  } catch (cause) {
    throw new Error(`reading OpenAPI documents needs the package ${PACKAGE}; install it beside crosswalk: npm install ${PACKAGE}`, {
      cause,
    })
  }
}

const refuseFetch = () => Promise.reject(new Error('references to other hosts are not read'))

function firstLine(text: string): string {
  return text.split('\n')[0] ?? ''
}
