import { contractSettings } from '../../config/parts.ts'
import type { Config } from '../../config/settings.ts'
import type { Tables } from '../../tables/tables.ts'
import { type OpenApiDocument, openApiDocument } from '../../tools/openapi.ts'

/** Returns what makes the v1 contract of the proxy at an address. */
export function contractOf(config: Config, tables: Tables): (server: string) => OpenApiDocument {
  const settings = { ...contractSettings(config), operations: [] }
  return (server) => openApiDocument(tables, { ...settings, server })
}
