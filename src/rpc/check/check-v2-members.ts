import type { Source } from '../../tables/fields.ts'
import type { Operation } from '../../tables/operation.ts'
import { asParam } from '../../tables/query.ts'
import { snakeCase } from '../../tables/uid.ts'
import { callRoute } from './call-route.ts'
import { compareMembers, compareParam, compareRows, compareType, type FactsSide, SCALARS } from './compare-members.ts'
import { factAt } from './fact-at.ts'
import type { MethodRoutes } from './method-routes.ts'
import type { NamedFacts } from './wrong-fact.ts'

const side = (facts: NamedFacts): FactsSide => ({
  facts,
  // v2 counts in 64 bits what v1 counted in 32.
  scalars: { ...SCALARS, int: ['int32', 'int64'] },
  // A field that another v2 resource holds is not in this message.
  paths: (_, { source, access }) => (access === 'elsewhere' ? [] : pathsOf(source)),
  valuesOf: ({ rows }) => rows.map(([, name]) => [name, undefined]),
})

/** `claimMatch.issuerPattern` → `claim_match.issuer_pattern`. */
function pathsOf(source: Source | undefined): readonly string[] {
  if (source === undefined) return []
  if (typeof source === 'string') return [snakeCase(source)]
  return 'parentOf' in source ? pathsOf(source.parentOf) : source.firstOf.flatMap(pathsOf)
}

/**
 * Checks the v2 side of an operation that is one v2 call: where its parameters, its body and its answer come from. Throws a sentence.
 * The plans of other operations put their answers together from several messages.
 */
export function checkV2Members(facts: NamedFacts, methods: MethodRoutes, operation: Operation): void {
  const { id, kind, calls, params, request, answer, rowsIn } = operation
  const method = methods.get(callRoute(calls[0] ?? ''))
  if (!method || kind !== 'direct') return
  const { in: input, out, rule } = method
  for (const row of Object.values(params)) {
    const param = asParam(row)
    if (param.v2 === '') continue
    compareParam(side(facts), id, `${input}.${param.v2}`, param, factAt(facts, input, param.v2))
  }
  const body = rule.body === undefined || rule.body === '*' ? undefined : factAt(facts, input, rule.body)
  if (request && body) compareType(side(facts), id, `${input}.${rule.body}`, { kind: 'object', fields: request.fields }, body)
  if (answer && rowsIn === undefined) compareMembers(side(facts), id, answer.shown, out)
  if (answer && rowsIn !== undefined) {
    const name = snakeCase(rowsIn)
    compareRows(side(facts), id, `${out}.${name}`, answer.shown, factAt(facts, out, name))
  }
}
