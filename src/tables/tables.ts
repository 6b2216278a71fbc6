import type { ErrorForm } from '../errors/error-form.ts'
import type { V1OnlyShape } from './language/shape.ts'
import type { Sign } from './language/sign.ts'
import type { Mapping, Operation } from './operations/operation.ts'
import { covers } from './operations/operation-pattern.ts'

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
  /** The contract case that proves it (test/compat). */
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
  /** How both versions write errors; as a gRPC gateway unless it is given. */
  readonly errors?: ErrorForm
  /** What shows that a service is there. Without it, any answer below 500 to its base address does. */
  readonly probes?: Readonly<Record<'v1' | 'v2', Probe>>
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
