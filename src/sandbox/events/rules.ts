import type { Route } from '../http/route.ts'
import { resourceEntries } from './resource-rules.ts'
import type { Rule } from './rule.ts'
import { singularEntries } from './singular-rules.ts'

const RULES: ReadonlyMap<string, Rule> = new Map([...resourceEntries, ...singularEntries])

/** The rule of a route. Undefined for a route that announces nothing: reads, checks, requests for access, and a caller's own metadata. */
export const ruleOf = ({ method, template }: Pick<Route, 'method' | 'template'>): Rule | undefined =>
  RULES.get(`${method} ${template.replace(/\{[^{}]*\}/g, '{}')}`)
