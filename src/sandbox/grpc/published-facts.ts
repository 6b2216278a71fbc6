import { readFileSync } from 'node:fs'

/** A field: its number, its type as a proto file writes it, its oneof, and its JSON name if that is not derived. */
export type PublishedField = readonly [id: number, type: string, more?: { readonly oneof?: string; readonly json?: string }]

/** The verb and path of an http rule, and the field that is the body (`*`: every field that is not in the path). */
export type PublishedRule = Readonly<Partial<Record<'get' | 'post' | 'put' | 'patch' | 'delete' | 'body', string>>>

export type PublishedMethod = { readonly in: string; readonly out: string; readonly http?: PublishedRule }

type Named<T> = Readonly<Record<string, T>>

/** What the published protos of one version state. The sandbox shares these facts with Crosswalk, as data alone. */
export type PublishedFacts = {
  readonly services: Named<Named<PublishedMethod>>
  readonly messages: Named<Named<PublishedField>>
  readonly enums: Named<Named<number>>
}

const read = (version: string): PublishedFacts =>
  JSON.parse(readFileSync(new URL(`../../../mappings/grpc/${version}.json`, import.meta.url), 'utf8'))

/** The facts of v1 and of v2 together: no name is in both, except types that both use. */
export const readPublishedFacts = (): PublishedFacts => {
  const [v1, v2] = [read('v1'), read('v2')]
  return {
    services: { ...v1.services, ...v2.services },
    messages: { ...v1.messages, ...v2.messages },
    enums: { ...v1.enums, ...v2.enums },
  }
}
