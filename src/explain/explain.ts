import type { ApiError } from '../errors.ts'
import { unknownParameters } from '../serve/answer.ts'
import type { Env, Operation, OperationKind, V1Request } from '../tables/operation.ts'
import { differencesOf, type Tables } from '../tables/tables.ts'
import type { Call } from '../tables/turn.ts'
import { type DroppedMember, droppedMembers, unknowable } from './dropped.ts'
import { type Course, explore } from './explore.ts'
import { createShapes } from './placeholder.ts'

/** What a v1 request becomes, without sending anything. */
export interface Explanation {
  readonly operation: string
  readonly kind: OperationKind
  readonly course: Course
  /** Field masks of its updates. */
  readonly masks: readonly string[]
  readonly droppedParameters: readonly string[]
  readonly droppedMembers: readonly DroppedMember[]
  /** What the answer cannot contain, although v1's did. */
  readonly unknowable: readonly string[]
  /** Codes of the differences that the client can see. */
  readonly differences: readonly string[]
  /** v1 answers it, if there is a v1 service and neither modes nor `emulated` decide otherwise. */
  readonly v1First?: true
  /** Why only a v1 service can answer it. */
  readonly v1Only?: string
  /** Answers that nobody can imagine decide what comes after the calls. */
  readonly openEnd?: true
  /** The error for the request itself. */
  readonly refusal?: ApiError
}

/** Explains one matched v1 request. */
export function explain(operation: Operation, request: V1Request, env: Env, tables: Pick<Tables, 'mappings' | 'differences'>): Explanation {
  const course = explore({ operation, request, env, shapeOf: createShapes(tables.mappings) })
  return {
    operation: operation.id,
    kind: operation.kind,
    course,
    masks: course.calls.flatMap(({ call }) => maskOf(call)),
    droppedParameters: operation.begin ? unknownParameters(operation, request) : [],
    droppedMembers: operation.begin ? droppedMembers(operation, request.body) : [],
    unknowable: unknowable(operation),
    differences: differencesOf(tables)(operation.id),
    ...(operation.kind === 'emulated' && operation.method === 'GET' && { v1First: true as const }),
    ...(operation.kind === 'v1-only' && { v1Only: operation.because ?? '' }),
    ...(course.error && (isOpen(course) ? { openEnd: true as const } : { refusal: course.error })),
  }
}

/** Imagined answers lack what some plans look for. Their failure then says nothing of the request. */
function isOpen({ calls, error }: Course): boolean {
  return calls.length > 0 && (error?.code === 'INTERNAL' || error?.code === 'UNAVAILABLE')
}

function maskOf({ path, query, body }: Call): readonly string[] {
  const mask = query.find(([name]) => name === 'updateMask')?.[1] ?? body?.updateMask
  return typeof mask === 'string' ? [`${mask} on ${path}`] : []
}
