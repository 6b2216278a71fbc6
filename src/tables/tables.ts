/**
 * The tables: what differs between v1 and v2, as data, and what is compiled from it. `language.ts` is the door for `mappings`; this file,
 * `operation.ts` and `turn.ts` are the doors for the rest of the program.
 *
 * 1. `fields.ts`, `resource.ts` and `query.ts` say what a resource and its parameters are in both versions.
 * 2. `compile.ts` makes of each resource what reads a v2 form and writes a v1 form, and back; `text/` does it with bytes alone.
 * 3. `operations.ts` builds operations; `list.ts`, `whole-list.ts` and `pages.ts` are their plans.
 * 4. `turn.ts` runs a plan: each turn is a reply, or v2 calls and what comes next.
 * 5. `check.ts` refuses wrong tables at the start; `signs.ts` says how declared differences look.
 *
 * This room performs no I/O, reads no clock, and knows no protocol.
 */
import type { ErrorForm } from '../errors.ts'
import { covers, type Mapping, type Operation } from './operation.ts'
import type { V1OnlyShape } from './resource.ts'
import type { Sign } from './signs.ts'

/** One difference that a v1 client can see with v2 behind the proxy (design §3). */
export interface DeclaredDifference {
  /** In kebab case; the key in tests, reports and `crosswalk operations`. */
  readonly code: string
  /** Operation ids, or patterns with `*` (`iam.*`). */
  readonly operations: readonly string[]
  /** What the client sees. */
  readonly seen: string
  readonly because: string
  /**
   * The requests that can meet it: those with one of the parameters `given`, with one of the members `sent`, or without one of the members
   * `missing`. Absent = every request.
   */
  readonly met?: { readonly given?: readonly string[]; readonly sent?: readonly string[]; readonly missing?: readonly string[] }
  /** What a client of gRPC sees in its place, where a message cannot say it. Absent = the same as over REST, if there is such a method. */
  readonly overGrpc?: string
  /** The contract case that proves it (test/contract). */
  readonly test: string
  /** How it looks when both sides are asked. Absent if it appears only in writes, or in operations that only v1 serves. */
  readonly signs?: readonly Sign[]
}

/**
 * All that a server serves: the tables of one API. `mappings/index.ts` has those of this package; a module of somebody else exports its own
 * as `tables`:
 *
 *     export const tables: Tables = { name: 'projects', mappings: [projects], differences: [], shapes: {} }
 */
export interface Tables {
  /** In kebab case. Messages use it. */
  readonly name: string
  readonly mappings: readonly Mapping[]
  readonly differences: readonly DeclaredDifference[]
  /** What v1 takes and answers in operations that it alone serves, by their ids. */
  readonly shapes: Readonly<Record<string, V1OnlyShape>>
  /** The facts in `mappings/grpc/` belong to these tables, so that calls of v1's gRPC services are translated. Otherwise they pass to v2. */
  readonly hasGrpc?: true
  /** What the other version does not give or take, each with its reason. */
  readonly acknowledged?: readonly Acknowledged[]
  /** What differs everywhere, for guides. */
  readonly topics?: readonly GuideTopic[]
  /** How both versions write errors; as a gRPC gateway unless it is given. */
  readonly errors?: ErrorForm
  /** What shows that a service is there. Without it, any answer below 500 to its base address does. */
  readonly probes?: Readonly<Record<'v1' | 'v2', Probe>>
}

/**
 * What one version has and the other does not give or take, and why that is right. `crosswalk check` fails for what nobody covers or
 * acknowledges, and for an acknowledgement that no longer applies:
 *
 *     acknowledged: [
 *       { v2: ['*.etag', 'GET /v3/folders/{foldersId}'], reason: 'v1 never had them' },
 *       { v1: 'Project.state=ARCHIVED', reason: 'v2 deletes instead' },
 *       { v1: 'Lien.name', in: 'request', reason: 'v2 chooses names itself' },
 *     ]
 *
 * A place is an operation, a parameter (`GET /v3/liens?parent`), a member of a schema or a value of an enum, as the OpenAPI document of that
 * version spells it. `*` stands for any text.
 */
export type Acknowledged = { readonly reason: string; readonly in?: 'request' | 'answer' } & (
  | { readonly v1: string | readonly string[]; readonly v2?: never }
  | { readonly v2: string | readonly string[]; readonly v1?: never }
)

/** What differs between the versions whatever is called. Guides for clients begin with it. */
export interface GuideTopic {
  readonly title: string
  /** What v1 does, in Markdown, and what v2 does. */
  readonly v1: string
  readonly v2: string
  /** The operations that it concerns. Absent = all. */
  readonly concerns?: (operation: Operation) => boolean
}

/** A read that needs no token, and what only the service itself answers to it. */
export interface Probe {
  readonly path: string
  readonly isAnswer: (text: string) => boolean
  /** What the text should be, for people: `{"response": …} in JSON`. */
  readonly expected: string
}

/** Returns every operation, in table order. */
export function operationsOf({ mappings }: Pick<Tables, 'mappings'>): readonly Operation[] {
  return mappings.flatMap(({ operations }) => operations)
}

/** Returns what finds the codes of an operation's differences. */
export function differencesOf({ differences }: Pick<Tables, 'differences'>): (operation: string) => readonly string[] {
  return (operation) => {
    const codes = differences.filter(({ operations }) => operations.some((pattern) => covers(pattern, operation))).map(({ code }) => code)
    // An operation that is not served cannot have other differences.
    return codes.includes('v1-only') ? ['v1-only'] : codes
  }
}
