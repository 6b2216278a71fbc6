import { tables } from '../../mappings/index.ts'
import type { Dialect } from '../../src/tables/uid.ts'
import { type DocumentSettings, type OpenApiDocument, openApiDocument } from '../../src/tools/openapi.ts'

/** Returns the document of the tables with these settings. */
export function documentWith(settings: Partial<DocumentSettings>): OpenApiDocument {
  const nothing = { deprecation: undefined, sunset: undefined, successor: undefined }
  const defaults = { ...nothing, dialect: 'specification', server: 'http://127.0.0.1:8080', notFound: 'empty', operations: [] } as const
  return openApiDocument(tables, { ...defaults, ...settings })
}

const documents = new Map<Dialect, OpenApiDocument>()

/** Returns the document of a dialect, made once. */
export function documentOf(dialect: Dialect): OpenApiDocument {
  const known = documents.get(dialect) ?? documentWith({ dialect })
  documents.set(dialect, known)
  return known
}
