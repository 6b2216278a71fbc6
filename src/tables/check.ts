import { fieldAt, hasUid, itemFields, readerOf } from './compile.ts'
import type { Fields } from './fields.ts'
import type { Mapping, Operation } from './operation.ts'
import { isReadBack, type ReadBack } from './operations.ts'
import type { Message } from './resource.ts'
import { camelCase, variablesOf } from './uid.ts'

/** Returns the end of a sentence about a wrong word: `did you mean "roles"?`, or `otherwise` if no candidate is close enough. */
export function suggestion(word: string, candidates: readonly string[], otherwise: string): string {
  const near = nearest(word, candidates)
  return near === undefined ? otherwise : `did you mean "${near}"?`
}

/** Returns the candidate with the fewest edits, or undefined if none is close enough to be a typing error. A beginning that all share is no likeness. */
function nearest(word: string, candidates: readonly string[]): string | undefined {
  const own = word.length - sharedBeginning([word, ...candidates])
  const ranked = candidates
    .map((candidate) => ({ candidate, edits: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits)
  const [best] = ranked
  return best && best.edits <= Math.max(2, own / 3) ? best.candidate : undefined
}

/** The number of characters with which all words begin. */
function sharedBeginning([first = '', ...others]: readonly string[]): number {
  let length = 0
  while (length < first.length && others.every((other) => other[length] === first[length])) length += 1
  return length
}

/** The Levenshtein distance, row by row. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}

/** Yields a sentence for each write whose effect cannot be read, unless its table says why. */
function* readBackProblems(operations: readonly Operation[]): Generator<string> {
  for (const operation of operations) {
    if (!operation.begin || operation.method === 'GET') continue
    const { id, readBack, answer } = operation
    if (!readBack) yield `operation ${id} writes, but says neither how its effect is read nor why it cannot be (readBack)`
    if (!readBack || !isReadBack(readBack)) continue
    const { resource, shownAs = {} } = readBack
    const reader = readerOf(readBack, operations)
    if (!reader) yield `operation ${id} writes a ${resource.name}, and no operation reads a single one`
    else yield* identityProblems(operation, readBack, reader)
    const fields = itemFields(readBack, answer)
    for (const [name, place] of Object.entries(shownAs)) {
      if (place !== null && !fieldAt(resource.shown, place.split('.'))) {
        yield `operation ${id}: ${name} is shown as ${place}, which a ${resource.name} does not have`
      }
    }
    for (const [name, { type }] of Object.entries(fields)) {
      const other = Object.hasOwn(shownAs, name) ? undefined : resource.shown[name]
      if (other && other.type.kind !== type.kind) {
        yield `operation ${id}: a ${resource.name} shows ${name} in another form; say in shownAs where`
      }
    }
  }
}

/** A write that nobody can find again would be judged as lost, or as a delete that happened. */
function* identityProblems({ id, template, answer }: Operation, readBack: ReadBack, reader: Operation): Generator<string> {
  const { resource, named, listed } = readBack
  if (!listed && !hasUid(resource.shown) && (reader.rows || reader.missing !== 'error'))
    yield `operation ${id}: a ${resource.name} has no uid, and ${reader.id} does not answer a missing one with an error; let it`
  if ('answer' in named && !fieldAt(answer?.shown ?? {}, [named.answer]))
    yield `operation ${id}: its answer has no ${named.answer}, which should name what it wrote`
  const missing = variablesOf(reader.template).filter((name) => name !== reader.selects && !variablesOf(template).includes(name))
  if (missing.length > 0)
    yield `operation ${id}: ${reader.id} needs ${missing.join(', ')}, which its route does not have; name the variables of both alike`
}

/** Checks the tables at start; throws the first sentence that says what to mend. The router checks routes and `enumMap` checks enums. */
export function checkMappings(mappings: readonly Mapping[]): void {
  for (const problem of mappingProblems(mappings)) throw new Error(problem)
}

/** Yields a sentence for everything that is wrong in the tables. */
export function* mappingProblems(mappings: readonly Mapping[]): Generator<string> {
  const ids = new Map<string, string>()
  const messages = new Set<Message>()
  for (const { domain, operations } of mappings) {
    for (const operation of operations) {
      const { id, template } = operation
      if (!id.startsWith(`${domain}.`)) yield `operation ${id} stands in the mapping of ${domain}; its id must begin with "${domain}."`
      if (ids.has(id)) yield `operation id ${id} stands twice (${ids.get(id)} and ${template})`
      ids.set(id, template)
      yield* operationProblems(operation)
      for (const message of [operation.request, operation.answer]) if (message) messages.add(message)
    }
  }
  // Operations share their messages, and a start should not check one twice.
  for (const { name, fields } of messages) yield* fieldProblems(name, fields)
  yield* readBackProblems(mappings.flatMap(({ operations }) => operations))
}

function* operationProblems(operation: Operation): Generator<string> {
  if (operation.kind === 'v1-only' ? !operation.because : !operation.begin) {
    yield `operation ${operation.id} is ${operation.kind} but has no ${operation.kind === 'v1-only' ? 'reason' : 'plan'}`
  }
  yield* nameProblems(
    `the query of ${operation.id}`,
    [...Object.keys(operation.params), ...operation.ownParams].map((name) => [name, camelCase(name)]),
  )
}

function* fieldProblems(where: string, fields: Fields): Generator<string> {
  yield* nameProblems(
    where,
    Object.entries(fields).map(([name, field]) => [name, field.json ?? camelCase(name)]),
  )
  const sources = new Map<string, string>()
  for (const [name, { source, access, type, convert }] of Object.entries(fields)) {
    if (access === 'readWrite' && typeof source !== 'string') {
      yield `${where}.${name} is written to v2 but names no single v2 member; make it readOnly or give it one`
    }
    if (convert && access === 'readWrite' && !convert.read) {
      yield `${where}.${name} is written to v2 but converted only for answers; give it read, or make it readOnly`
    }
    if (typeof source === 'string' && source !== '' && access === 'readWrite') {
      const other = sources.get(source)
      if (other) yield `${where}: ${other} and ${name} are both written to the v2 member ${source}`
      sources.set(source, name)
    }
    const inner = type.kind === 'list' || type.kind === 'map' ? type.of : type
    if (inner.kind === 'object') yield* fieldProblems(`${where}.${name}`, inner.fields)
  }
}

/** Two members must not share a spelling: one of them could never be read. */
function* nameProblems(where: string, names: readonly (readonly [string, string])[]): Generator<string> {
  const seen = new Map<string, string>()
  for (const [name, json] of names) {
    for (const spelling of new Set([name, json])) {
      const other = seen.get(spelling)
      if (other !== undefined) yield `${where}: "${spelling}" names two members, ${other} and ${name}`
      seen.set(spelling, name)
    }
  }
}

/** Returns a text between single quotes, as one word of a shell: `it's` → `'it'\''s'`. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
