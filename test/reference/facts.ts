import type { Fields, FieldType } from '../../src/tables/fields.ts'

/** The parts of the machine-readable facts that the check reads. */
export interface V1Member {
  readonly name: string
  readonly json: string
  readonly type: string
  readonly repeated?: boolean
  readonly mapKey?: string
  readonly oneof?: string
  readonly omitWhenUnset?: boolean
}

interface Pair {
  readonly v1: string | null
  readonly v2: string | null
  readonly v1In?: string
  readonly v2Op?: string
  readonly v2Fallback?: readonly string[]
}

export interface FactOperation {
  readonly id: string
  readonly domain: string
  readonly kind: string
  readonly v1: {
    readonly method: string
    readonly protoPath: string
    readonly response: string
    readonly body: string | null
    readonly pathParams: readonly { readonly proto: string }[]
    readonly queryParams: readonly { readonly name: string; readonly type: string }[]
    readonly bodyFields: readonly { readonly name: string }[]
    readonly auth: { readonly auth: boolean }
  }
  readonly v2: { readonly method: string; readonly protoPath: string } | null
  readonly requestMap: readonly Pair[]
  readonly queryMap?: readonly Pair[]
  readonly responseMap: readonly Pair[]
  readonly updateMask?: {
    readonly alwaysJson?: readonly string[]
    readonly conditional?: Readonly<Record<string, string>>
    readonly wildcard?: string
  }
}

export interface Facts {
  readonly orderBy: Readonly<Record<string, string>>
  readonly operations: readonly FactOperation[]
  readonly missingFromOpenapi: readonly {
    readonly v1: { readonly method: string; readonly path: string; readonly rpc: string }
    readonly kind: string
  }[]
  readonly messages: { readonly v1: Readonly<Record<string, readonly V1Member[]>> }
  readonly enums: Readonly<
    Record<
      string,
      { readonly v1Enum: string; readonly v1Numbers: Readonly<Record<string, number>>; readonly v1ToV2: Readonly<Record<string, string>> }
    >
  >
}

/** A template as the tables write it: `{digest=*}` is `{digest}`, variable names do not count. */
export function shapeOf(template: string): string {
  return template.replace(/\{[^}=]+(=\*\*?)?\}/g, (_, stars: string | undefined) => (stars === '=**' ? '{**}' : '{}'))
}

/** The rows inside a member that holds objects, alone, in a list or in a map. */
export function innerFields(type: FieldType): Fields | undefined {
  const inner = type.kind === 'list' || type.kind === 'map' ? type.of : type
  return inner.kind === 'object' ? inner.fields : undefined
}
