import type { V1Request } from '../operations/operation.ts'
import { pieceInPath, uidInPath } from './uid.ts'

/**
 * Fills a v2 path template with the request's variables. An empty `{name}` is INVALID_ARGUMENT.
 * An empty `{name=**}` also removes its slash (facts §12.4: a root group has no parent).
 */
export function fillPath(template: string, variables: V1Request['params']): string {
  return template.replace(/\/\{([^{}=]+)(=\*\*)?\}/g, (variable, name: string, mayBeEmpty: string | undefined, at: number) => {
    const value = variables[name] ?? ''
    if (value === '' && mayBeEmpty) return ''
    const isEnd = at + variable.length === template.length
    return `/${isEnd ? uidInPath(value, name) : pieceInPath(value, name)}`
  })
}

/** Returns the names of a template's variables, in order. */
export function variablesOf(route: string): readonly string[] {
  return [...route.matchAll(/\{([^=}]+)/g)].map(([, name = '']) => name)
}

/** Returns the name of a template's only variable. */
export function onlyVariable(route: string): string {
  const [name] = variablesOf(route)
  if (!name) throw new Error(`route "${route}" has no path variable`)
  return name
}

/** A v2 path that the variables of a route can fill. For any other path it is a sentence, which the compiler shows as the required type. */
export type Fillable<Path extends string, Route extends string> = string extends Route
  ? Path
  : [Strangers<Path, Route>] extends [never]
    ? Path
    : `{${Strangers<Path, Route>}} is no variable of ${Route}`

/** The variables of a route; any text if the compiler does not know the whole route. */
export type VariableOf<Route extends string> = Record<never, never> extends Record<Route, true> ? string : VariablesIn<Route>

/** The variables of a path that its route lacks. */
type Strangers<Path extends string, Route extends string> = Exclude<VariablesIn<Path>, VariablesIn<Route>>

/** `'/x/{id=**}/y/{name}'` → `'id' | 'name'`. */
type VariablesIn<Route extends string> = Route extends `${string}{${infer Variable}}${infer Rest}`
  ? NameOf<Variable> | VariablesIn<Rest>
  : never

type NameOf<Variable extends string> = Variable extends `${infer Name}=${string}` ? Name : Variable
