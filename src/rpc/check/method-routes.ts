import type { MethodFact } from '../facts.ts'
import { type HttpRule, routeOf, ruleOf } from '../http-rule.ts'
import { type NamedFacts, wrongFact } from './wrong-fact.ts'

/** A method with an http rule. */
export interface RuledMethod extends MethodFact {
  /** `chainguard.platform.iam.Groups/List`. */
  readonly name: string
  readonly rule: HttpRule
}

/** Methods by their routes, such as `GET /iam/v1/roles/{}`. */
export type MethodRoutes = ReadonlyMap<string, RuledMethod>

/** Methods without an http rule: REST cannot carry them, so no operation describes them. */
const WITHOUT_RULE: Readonly<Record<string, string>> = {
  'chainguard.platform.iam.GroupInvites/CreateWithGroup': 'makes a group and an invite at once; v1 publishes no route for it',
}

/** Returns the methods with a rule. Throws a sentence if a rule is missing, or two methods have one route. */
export function methodsOf(facts: NamedFacts): MethodRoutes {
  const routes = new Map<string, RuledMethod>()
  for (const [service, methods] of Object.entries(facts.services)) {
    for (const [method, fact] of Object.entries(methods)) {
      const name = `${service}/${method}`
      const rule = ruleOf(fact.http)
      if (!rule && name in WITHOUT_RULE) continue
      if (!rule) throw wrongFact(facts, name, 'has no http rule')
      const other = routes.get(routeOf(rule))
      if (other) throw wrongFact(facts, name, `has the route of ${other.name}, ${routeOf(rule)}`)
      routes.set(routeOf(rule), { ...fact, name, rule })
    }
  }
  for (const name of Object.keys(WITHOUT_RULE)) {
    const [service = '', method = ''] = name.split('/')
    if (facts.api === 'v1' && !facts.services[service]?.[method]) throw wrongFact(facts, name, 'is missing')
  }
  return routes
}
