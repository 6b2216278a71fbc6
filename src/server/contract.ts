import { differences, differencesOf } from '../../mappings/differences.ts'
import { v1OnlyShapes } from '../../mappings/v1-only-shapes.ts'
import { contractSettings } from '../config/parts.ts'
import type { Config } from '../config/settings.ts'
import { type OpenApiDocument, openApiDocument } from '../openapi/open-api-document.ts'
import type { Mapping } from '../tables/operations/operation.ts'

/** Returns what makes the v1 contract of the proxy at an address. */
export function contractOf(config: Config, mappings: readonly Mapping[]): (server: string) => OpenApiDocument {
  const settings = { ...contractSettings(config), operations: [] }
  return (server) => openApiDocument({ mappings, shapes: v1OnlyShapes, differences, differencesOf }, { ...settings, server })
}
