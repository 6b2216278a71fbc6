import { type JsonSchema, refTo } from './schemas/json-schema.ts'

/** What v1 answers announce about the end of v1; times are in seconds since the epoch. */
export interface Announced {
  readonly deprecation: number | undefined
  readonly sunset: number | undefined
  /** The address of v1's replacement. */
  readonly successor: string | undefined
}

/** Returns the header objects of what is announced, by name: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` (RFC 5829). */
export function announcedHeaders({ deprecation, sunset, successor }: Announced): Readonly<Record<string, JsonSchema>> {
  return {
    ...(deprecation !== undefined && { Deprecation: header('The date from which v1 is deprecated.', `@${deprecation}`) }),
    ...(sunset !== undefined && { Sunset: header('The date on which v1 ends.', new Date(sunset * 1000).toUTCString()) }),
    ...(successor !== undefined && { Link: header('The successor of v1.', `<${successor}>; rel="successor-version"`) }),
  }
}

/** Returns the `headers` of every response; undefined if nothing is announced. */
export function headersIn(announced: Readonly<Record<string, JsonSchema>>): JsonSchema | undefined {
  const names = Object.keys(announced)
  return names.length > 0 ? Object.fromEntries(names.map((name) => [name, refTo('headers', name)])) : undefined
}

function header(description: string, example: string): JsonSchema {
  return { description, schema: { type: 'string' }, example }
}
