import type { Mapping, Operation } from '../../tables/operation.ts'
import { variablesOf } from '../../tables/uid.ts'
import { readFieldType } from '../field-type.ts'
import { routeOf } from '../http-rule.ts'
import { callRoute } from './call-route.ts'
import { factAt } from './fact-at.ts'
import type { MethodRoutes, RuledMethod } from './method-routes.ts'
import { type NamedFacts, wrongFact } from './wrong-fact.ts'

/** Domains whose services the facts leave out. Their operations have no v2, and a call of their services is passed on as it comes. */
const WITHOUT_METHODS: ReadonlySet<string> = new Set([
  'actions',
  'apk',
  'argos',
  'auth',
  'image-recommendation',
  'packages',
  'policies',
  'skills',
])

/**
 * Checks that each operation has one method of v1, each method of v1 one operation, and each v2 call of a table one method of v2.
 * Every rule's variables and body must be fields. Throws a sentence.
 */
export function checkMethods(
  v1: NamedFacts,
  v1Methods: MethodRoutes,
  v2: NamedFacts,
  v2Methods: MethodRoutes,
  mappings: readonly Mapping[],
): void {
  const used = new Set<string>()
  for (const { domain, operations } of mappings) {
    for (const operation of operations) {
      if (!WITHOUT_METHODS.has(domain)) checkOperation(v1, v1Methods, operation)
      used.add(routeOf(operation))
      for (const call of operation.calls) {
        used.add(callRoute(call))
        if (!v2Methods.has(callRoute(call))) throw wrongFact(v2, operation.id, `calls ${call}, which no method has as its route`)
      }
    }
  }
  for (const [facts, methods] of [
    [v1, v1Methods],
    [v2, v2Methods],
  ] as const) {
    for (const [route, method] of methods) {
      if (!used.has(route)) throw wrongFact(facts, method.name, `has the route ${route}, which no table has`)
      checkRule(facts, method)
    }
  }
}

function checkOperation(v1: NamedFacts, methods: MethodRoutes, operation: Operation): void {
  const method = methods.get(routeOf(operation))
  if (!method) throw wrongFact(v1, operation.id, `has the route ${operation.method} ${operation.template}, which no method has`)
  // An update names its variable by the field of a field: `subscription.id` is `id` to the tables.
  const names = variablesOf(method.rule.template).map((name) => name.split('.').at(-1))
  const own = variablesOf(operation.template)
  if (String(names) !== String(own))
    throw wrongFact(v1, method.name, `has the variables ${names} in its route, but ${operation.id} has ${own}`)
}

function checkRule(facts: NamedFacts, { name, in: input, rule }: RuledMethod): void {
  for (const variable of variablesOf(rule.template)) {
    const type = factAt(facts, input, variable)?.[1]
    if (type !== 'string') throw wrongFact(facts, name, `has ${variable} in its route, but ${input}.${variable} is ${type ?? 'not there'}`)
  }
  if (rule.body === undefined || rule.body === '*') return
  const body = factAt(facts, input, rule.body)
  if (!body || !readFieldType(body[1])) throw wrongFact(facts, name, `has the body ${rule.body}, but ${input} has no such field`)
}
