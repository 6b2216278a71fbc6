import { type Facts, type FactsOfBoth, type HttpRule, routeOf, ruleOf } from '../grpc/facts.ts'

/** The gRPC methods that say the same as a request of REST, named as in `iam.Groups/List` after their packages. */
export interface MethodNames {
  /** The method of v1 with the route of an operation. */
  v1(route: Pick<HttpRule, 'method' | 'template'>): string | undefined
  /** The method of v2 for a call; its path has no query. */
  v2(call: { readonly method: string; readonly path: string }): string | undefined
}

export function createMethodNames({ v1, v2 }: FactsOfBoth): MethodNames {
  const ofV1 = new Map(namedRules(v1).map(({ name, rule }) => [routeOf(rule), name]))
  // The rule with the most literal text is meant: `{uid=**}` spans whatever follows.
  const ofV2 = namedRules(v2)
    .map(({ name, rule }) => ({ name, method: rule.method, pattern: patternOf(rule), literal: routeOf(rule).length }))
    .sort((a, b) => b.literal - a.literal)
  return {
    v1: (route) => ofV1.get(routeOf(route)),
    v2: ({ method, path }) => ofV2.find((one) => one.method === method && one.pattern.test(path))?.name,
  }
}

function namedRules({ services }: Facts): readonly { readonly name: string; readonly rule: HttpRule }[] {
  return Object.entries(services).flatMap(([service, methods]) =>
    Object.entries(methods).flatMap(([method, { http }]) => {
      const rule = ruleOf(http)
      return rule ? [{ name: `${service}/${method}`, rule }] : []
    }),
  )
}

function patternOf({ template }: HttpRule): RegExp {
  const parts = template.split(/\{[^{}]+\}/).map((literal) => literal.replace(/[.*+?^$()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.+')}$`)
}
