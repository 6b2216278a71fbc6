import { isDeepStrictEqual } from 'node:util'
import type { DescEnum } from '@bufbuild/protobuf'
import { expect, inject, test } from 'vitest'
import { mappings } from '../../../mappings/index.ts'
import { v1OnlyShapes } from '../../../mappings/v1-only-shapes.ts'
import { checkFacts } from '../../../src/grpc/check.ts'
import {
  type Facts,
  type FactsOfBoth,
  type FieldFact,
  type HttpFact,
  type MethodFact,
  readFacts,
  readFieldType,
} from '../../../src/grpc/facts.ts'
import { openRpc } from '../../../src/grpc/proto-files.ts'
import { pinned, signatureOf, valuesOf, vectorFault } from '../../grpc/vectors/vectors.ts'
import { type Explained, shuffled } from './mutant.ts'

/** Faults of the facts that neither the tables nor a message can show. */
const explainedFacts: readonly Explained[] = [
  {
    name: /^v1 chainguard\.platform\.tenant\.VulnerabilityMatch\.fix: no longer optional$/,
    because: 'a field with a message is absent when unset, optional or not',
  },
  {
    name: /^v2 chainguard\.platform\.vulnerabilities\.v2\.Advisory\.delete_time: no longer optional$/,
    because: 'a field with a message is absent when unset, optional or not',
  },
  {
    name: /^v2 chainguard\.platform\.iam\.v2\.IdentityProvider\.oidc: out of its oneof$/,
    because: 'the only member of its oneof, and a message',
  },
  {
    name: /^v1 chainguard\.platform\.argos\.(?:Event\.fixed: (?:renamed|another number)|Affected\.database_specific: its JSON name derived)$/,
    because: 'only v1 answers these messages, and gRPC passes them on as bytes; the vectors hold none of this depth as JSON',
  },
  {
    name: /^v1 chainguard\.platform\.argos\.(?:Affected\.ecosystem_specific|DatabaseSpecific\.(?:cwe_ids|sink_locator|defect_kind)|DumpOSVMetadata\.(?:generated_at|size_bytes)|OSVQuery(?:BatchResult|Response)\.next_page_token|OSVQueryRequest\.page_token|OSVRecord\.schema_version|SinkLocator\.(?:arg_signature|file_line)): its JSON name derived$/,
    because: 'only v1 answers these messages; no vector of the vendor has this member as JSON',
  },
  {
    name: /^v1 chainguard\.platform\.(?:argos\.(?:DumpOSVResponse\.metadata: out of its oneof|Event\.fixed: another type)|apk\.APKPackage\.description: number exchanged with url|policies\.v1\.ParameterSchema\.(?:minimum: number exchanged with maximum|maximum: number exchanged with allowed_values))$/,
    because: 'only v1 answers these messages; no vector of the vendor tells the two apart',
  },
]

/** One fault in the facts of gRPC. */
interface FactMutant {
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
function factMutants(facts: FactsOfBoth): readonly FactMutant[] {
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

const facts = readFacts()
const vectors = { v1: pinned('v1'), v2: pinned('v2') }
const all = factMutants(facts)

/** What the check at start says of the facts, or the first vector that they write otherwise. */
function noticed(mutant: Pick<FactMutant, 'api' | 'types' | 'apply'>): string | undefined {
  const restore = mutant.apply()
  try {
    checkFacts(facts, mappings, v1OnlyShapes)
    return vectorsOf(mutant)
  } catch (error) {
    return (error as Error).message
  } finally {
    restore()
  }
}

function vectorsOf({ api, types }: Pick<FactMutant, 'api' | 'types'>): string | undefined {
  const vendor = vectors[api]
  if (types.length === 0) {
    const own = openRpc([], facts).methods.filter(({ version }) => version === api)
    const signatures = Object.fromEntries(own.map((method) => [method.path.slice(1), signatureOf(method)]))
    return isDeepStrictEqual(signatures, vendor.methods) ? undefined : 'a method'
  }
  const some = { ...facts[api], messages: reachable(facts[api], types), services: {} }
  const { registry } = openRpc([], { v1: NOTHING, v2: NOTHING, [api]: some })
  for (const type of types) {
    const fault = vectorFault(registry.getMessage(type), vendor.messages[type]!, registry)
    if (fault !== undefined) return `${type}: ${fault}`
  }
  return [...registry].flatMap((type) => (type.kind === 'enum' ? [type] : [])).find((type) => isOther(type, vendor.enums))?.typeName
}

function isOther(type: DescEnum, enums: Readonly<Record<string, unknown>>): boolean {
  return type.typeName in enums && !isDeepStrictEqual(valuesOf(type), enums[type.typeName])
}

const NOTHING: Facts = { services: {}, messages: {}, enums: {} }

/** The messages that these messages are made of, with what encloses them. */
function reachable({ messages }: Facts, types: readonly string[]): Facts['messages'] {
  const found = new Map<string, Facts['messages'][string]>()
  const add = (type: string) => {
    const fields = messages[type]
    if (!fields || found.has(type)) return
    found.set(type, fields)
    add(type.slice(0, type.lastIndexOf('.')))
    for (const [, text] of Object.values(fields)) add(readFieldType(text)?.of ?? '')
  }
  for (const type of types) add(type)
  return Object.fromEntries(found)
}

test('every fault in the facts stops the start or is noticed by a vector', () => {
  const { seconds, seed } = inject('mutants')
  const chosen = seconds === undefined ? all : shuffled(all, seed)
  const end = performance.now() + 1000 * (seconds ?? Number.POSITIVE_INFINITY)
  const survivors: string[] = []
  const stale: string[] = []
  let [tried, stopped, equal] = [0, 0, 0]
  for (const mutant of chosen) {
    if (performance.now() > end) break
    tried += 1
    const told = noticed(mutant)
    if (told?.startsWith('mappings/grpc/')) stopped += 1
    const isExplained = explainedFacts.some(({ name }) => name.test(mutant.name))
    if (isExplained && told !== undefined) stale.push(`${mutant.name}: ${told}`)
    if (isExplained) equal += 1
    else if (told === undefined) survivors.push(mutant.name)
  }
  for (const name of survivors) console.log(`survived: ${name}`)
  const killed = tried - equal - survivors.length
  const sample = seconds === undefined ? '' : `, a sample of ${all.length} with seed ${seed}`
  console.log(`facts: killed ${killed} of ${tried}, ${stopped} by the start, ${equal} explained, ${survivors.length} survived${sample}`)
  expect({ survivors, stale }).toEqual({ survivors: [], stale: [] })
})

test('without a fault, nothing is noticed', () => {
  const apply = () => () => {}
  for (const api of ['v1', 'v2'] as const) expect(noticed({ api, types: Object.keys(facts[api].messages), apply })).toBeUndefined()
})

test('every explanation of a fact explains something', () => {
  expect(explainedFacts.filter(({ name }) => !all.some((mutant) => name.test(mutant.name)))).toEqual([])
})
