/** Why arguments cannot be copied. */
export interface Uncopied {
  readonly because: string
}

/** Copies the arguments of a call, so that neither side sees what the other one does to them. */
export type CopyArguments = (args: readonly unknown[], signal: AbortSignal | undefined) => readonly unknown[]

/** Levels of arguments that are copied. */
const DEPTH = 90

/**
 * Copies plain objects, lists, Map, Set, Date, URL, bytes and errors. An AbortSignal becomes `signal`, so that the second side ends when
 * the comparison does. Throws an `Uncopied` for a function and for an object of any other class: both sides would share it.
 */
export const copyArguments: CopyArguments = (args, signal) => {
  const known = new Map<object, unknown>()
  const copy = (value: unknown, depth: number): unknown => {
    if (typeof value === 'function') throw uncopied('a function')
    if (typeof value !== 'object' || value === null) return value
    if (value instanceof AbortSignal) return signal ?? value
    if (known.has(value)) return known.get(value)
    if (depth > DEPTH) throw uncopied('a value that is nested too deeply')
    const { make, fill } = Array.isArray(value) ? LIST : copierOf(value)
    const made = make(value as never)
    known.set(value, made)
    fill?.(made as never, value as never, (inner) => copy(inner, depth + 1))
    return made
  }
  return args.map((value) => copy(value, 0))
}

/** How an object is copied: an empty one is made first, because it may contain itself. */
interface Copier {
  readonly make: (value: never) => unknown
  readonly fill?: (made: never, value: never, inner: (one: unknown) => unknown) => void
}

const fillMembers = (made: object, value: object, inner: (one: unknown) => unknown) => {
  for (const [name, one] of Object.entries(value)) {
    Object.defineProperty(made, name, { value: inner(one), configurable: true, enumerable: true, writable: true })
  }
}

const LIST: Copier = { make: () => [], fill: fillMembers }
const CLONED: Copier = { make: (value: unknown) => structuredClone(value) }

/** By what an object inherits from: an object of a class that extends one of these is none of them. */
const COPIERS: ReadonlyMap<unknown, Copier> = new Map<unknown, Copier>([
  [null, { make: () => Object.create(null), fill: fillMembers }],
  [Object.prototype, { make: () => ({}), fill: fillMembers }],
  [Date.prototype, CLONED],
  [RegExp.prototype, CLONED],
  [URL.prototype, { make: (url: URL) => new URL(url) }],
  [URLSearchParams.prototype, { make: (query: URLSearchParams) => new URLSearchParams(query) }],
  [Buffer.prototype, { make: (bytes: Buffer) => Buffer.from(bytes) }],
  [
    Map.prototype,
    {
      make: () => new Map(),
      fill(made: Map<unknown, unknown>, map: ReadonlyMap<unknown, unknown>, inner) {
        for (const [key, one] of map) made.set(inner(key), inner(one))
      },
    },
  ],
  [
    Set.prototype,
    {
      make: () => new Set(),
      fill(made: Set<unknown>, set: ReadonlySet<unknown>, inner) {
        for (const one of set) made.add(inner(one))
      },
    },
  ],
])

function copierOf(value: object): Copier {
  const copier = COPIERS.get(Object.getPrototypeOf(value))
  if (copier) return copier
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof Error) return CLONED
  throw uncopied(`an object of the class ${value.constructor?.name ?? 'unknown'}`)
}

function uncopied(what: string): Uncopied {
  return { because: what }
}

/** Returns the AbortSignals among the arguments and their members: the caller gave up the call if one of them has fired. */
export function signalsIn(args: readonly unknown[]): readonly AbortSignal[] {
  const members = args.flatMap((one) => (typeof one === 'object' && one !== null ? [one, ...Object.values(one)] : []))
  return members.filter((one) => one instanceof AbortSignal)
}
