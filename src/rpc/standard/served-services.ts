import type { Operation } from '../../tables/operation.ts'
import { type FactsOfBoth, v2beta1Of } from '../facts.ts'
import { routeOf, ruleOf } from '../http-rule.ts'
import { HEALTH, REFLECTION } from './standard-facts.ts'

/** Which services a process serves. */
export interface ServedSettings {
  /** A v1 service stands behind the proxy and answers what v2 cannot. */
  readonly hasV1: boolean
  /** Calls of v2beta1 are calls of v2; as they are, only v2 knows whether it serves them. */
  readonly asV2: boolean
  readonly reflection: boolean
}

/**
 * Returns the names of the gRPC services that a process serves: of v1 those with a method that it can answer, all of v2, and its own.
 */
export function servedServices(
  operations: readonly Operation[],
  { v1, v2 }: FactsOfBoth,
  { hasV1, asV2, reflection }: ServedSettings,
): readonly string[] {
  const answered = new Set(operations.filter(({ begin }) => hasV1 || begin).map(routeOf))
  const ofV1 = Object.entries(v1.services).filter(([, methods]) =>
    Object.values(methods).some(({ http }) => {
      const rule = ruleOf(http)
      return rule ? answered.has(routeOf(rule)) : hasV1
    }),
  )
  return [
    ...ofV1.map(([name]) => name),
    ...Object.keys(v2.services),
    ...(asV2 ? Object.keys(v2beta1Of(v2).services) : []),
    `${HEALTH}.Health`,
    ...(reflection ? REFLECTION.map((name) => `${name}.ServerReflection`) : []),
  ].sort()
}
