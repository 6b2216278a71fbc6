import type { FactsOfBoth, FieldFact, HttpFact, MethodFact } from '../../../src/grpc/facts.ts'

/** One fault in the facts of gRPC. */
export interface FactMutant {
  /** Where and what: `v1 chainguard.platform.iam.Group.name: renamed`. */
  readonly name: string
  readonly api: 'v1' | 'v2'
  /** The messages whose descriptors it changes; none if it changes methods alone. */
  readonly types: readonly string[]
  /** Puts the fault in place; the result takes it away again. */
  readonly apply: () => () => void
}

/** The facts, which a mutant changes in place. */
type Open<T> = { -readonly [K in keyof T]: Open<T[K]> }

/** Every fault of one number, name, type, presence, enum value or http rule. */
export function factMutants(facts: FactsOfBoth): readonly FactMutant[] {
  return (['v1', 'v2'] as const).flatMap((api) => {
    const { messages, enums, services } = facts[api] as Open<FactsOfBoth['v1']>
    return [
      ...Object.entries(messages).flatMap(([message, fields]) => fieldMutants(api, message, fields)),
      ...Object.entries(enums).flatMap(([name, values]) => enumMutants(api, name, values, usersOf(facts, api, name))),
      ...Object.entries(services).flatMap(([service, methods]) => methodMutants(api, service, methods)),
    ]
  })
}

/** Types that bytes or JSON write otherwise, but which look alike. */
const OTHER_TYPE: Readonly<Record<string, string>> = {
  string: 'bytes',
  bytes: 'string',
  bool: 'int32',
  int32: 'int64',
  int64: 'int32',
  uint32: 'int32',
  'google.protobuf.Timestamp': 'google.protobuf.Duration',
  'google.protobuf.Duration': 'google.protobuf.Timestamp',
}

function fieldMutants(api: 'v1' | 'v2', message: string, fields: Open<Record<string, FieldFact>>): readonly FactMutant[] {
  const free = Math.max(...Object.values(fields).map(([number]) => number)) + 1
  return Object.entries(fields).flatMap(([name, fact], at) => {
    const [number, type, more] = fact
    const next = Object.keys(fields)[at + 1]
    const mutant = (what: string, changed: FieldFact): FactMutant => ({
      name: `${api} ${message}.${name}: ${what}`,
      api,
      types: [message],
      apply: () => replaced(fields, name, changed),
    })
    const last = type.split(/[ <,>]/).findLast((part) => part !== '') ?? ''
    const other = OTHER_TYPE[last] ?? 'string'
    const { oneof, json } = more ?? {}
    return [
      mutant('another number', [free, type, ...rest(more)]),
      mutant('another type', [number, type.replace(last, other), ...rest(more)]),
      mutant(type.startsWith('repeated ') ? 'no list' : 'a list', [number, relabelled(type), ...rest(more)]),
      ...(type.startsWith('optional ') ? [mutant('no longer optional', [number, type.slice('optional '.length), ...rest(more)])] : []),
      ...(/^[a-z0-9]+$/.test(type) && oneof === undefined ? [mutant('optional', [number, `optional ${type}`, ...rest(more)])] : []),
      ...(oneof === undefined ? [] : [mutant('out of its oneof', [number, type])]),
      ...(json === undefined ? [] : [mutant('its JSON name derived', [number, type])]),
      { name: `${api} ${message}.${name}: renamed`, api, types: [message], apply: () => renamed(fields, name, `${name}_x`) },
      ...(next === undefined ? [] : [numbersExchanged(api, message, fields, name, next)]),
    ]
  })
}

function rest(more: FieldFact[2]): [] | [NonNullable<FieldFact[2]>] {
  return more ? [more] : []
}

function relabelled(type: string): string {
  if (type.startsWith('map<')) return 'string'
  return type.startsWith('repeated ') ? type.slice('repeated '.length) : `repeated ${type.replace('optional ', '')}`
}

function numbersExchanged(
  api: 'v1' | 'v2',
  message: string,
  fields: Open<Record<string, FieldFact>>,
  name: string,
  next: string,
): FactMutant {
  const [[here, ...mine], [there, ...theirs]] = [fields[name]!, fields[next]!]
  return {
    name: `${api} ${message}.${name}: number exchanged with ${next}`,
    api,
    types: [message],
    apply() {
      const restore = [replaced(fields, name, [there, ...mine]), replaced(fields, next, [here, ...theirs])]
      return () => {
        for (const one of restore) one()
      }
    },
  }
}

/** The messages with a field of this enum. */
function usersOf(facts: FactsOfBoth, api: 'v1' | 'v2', name: string): readonly string[] {
  const messages = Object.entries(facts[api].messages)
  return messages.filter(([, fields]) => Object.values(fields).some(([, type]) => type.endsWith(name))).map(([message]) => message)
}

function enumMutants(
  api: 'v1' | 'v2',
  name: string,
  values: Open<Record<string, number>>,
  types: readonly string[],
): readonly FactMutant[] {
  const free = Math.max(...Object.values(values)) + 1
  return Object.keys(values).flatMap((value) => [
    { name: `${api} ${name}.${value}: another number`, api, types, apply: () => replaced(values, value, free) },
    { name: `${api} ${name}.${value}: renamed`, api, types, apply: () => renamed(values, value, `${value}_X`) },
  ])
}

type Methods = Record<string, MethodFact>

function methodMutants(api: 'v1' | 'v2', service: string, methods: Methods): readonly FactMutant[] {
  return Object.entries(methods).flatMap(([name, fact]) => {
    const mutant = (what: string, apply: () => () => void) => ({ name: `${api} ${service}/${name}: ${what}`, api, types: [], apply })
    const { http } = fact
    return [
      mutant('missing', () => removed(methods, name)),
      mutant('renamed', () => renamed(methods, name, `${name}X`)),
      ...(fact.in === fact.out
        ? []
        : [mutant('request and answer exchanged', () => replaced(methods, name, { ...fact, in: fact.out, out: fact.in }))]),
      ...(http
        ? ruleMutants(http).map(([what, rule]) => mutant(what, () => replaced<MethodFact>(methods, name, { ...fact, http: rule })))
        : []),
    ]
  })
}

function ruleMutants({ body, ...verb }: HttpFact): readonly (readonly [what: string, rule: HttpFact])[] {
  const [[method, template] = ['', '']] = Object.entries(verb)
  const kept = body === undefined ? {} : { body }
  return [
    ['another verb', { [method === 'post' ? 'put' : 'post']: template, ...kept }],
    ['another path', { [method]: template.replace(/(\w)(?=[/:]|$)/, '$1x'), ...kept }],
    ...(template.includes('{') ? [['another variable', { [method]: template.replace(/\{\w+/, '{other'), ...kept }] as const] : []),
    ['no rule', {}],
    [body === undefined ? 'a body' : 'no body', { [method]: template, ...(body === undefined && { body: '*' }) }],
  ]
}

function replaced<T>(record: Record<string, T>, name: string, value: T): () => void {
  const before = record[name]!
  record[name] = value
  return () => {
    record[name] = before
  }
}

/** Changes the members of a record and keeps their order. */
function reordered<T>(record: Record<string, T>, changed: readonly (readonly [string, T])[]): () => void {
  const before = Object.entries(record)
  const write = (entries: readonly (readonly [string, T])[]) => {
    for (const name of Object.keys(record)) delete record[name]
    for (const [name, value] of entries) record[name] = value
  }
  write(changed)
  return () => write(before)
}

function renamed<T>(record: Record<string, T>, from: string, to: string): () => void {
  return reordered(
    record,
    Object.entries(record).map(([name, value]) => [name === from ? to : name, value]),
  )
}

function removed<T>(record: Record<string, T>, name: string): () => void {
  return reordered(
    record,
    Object.entries(record).filter(([other]) => other !== name),
  )
}
