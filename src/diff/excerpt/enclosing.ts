import { isObject } from '../../tables/json.ts'
import { ANY, type Both, type JsonPath } from '../compare/json-path.ts'
import { leftOut } from '../redact/redact.ts'
import type { Redacted } from '../redact/redacted.ts'
import { isSecretName } from '../redact/secrets.ts'
import type { Excerpt } from './excerpt.ts'
import type { Size } from './size.ts'

/** Members that say which row it is. */
export const NAMING: readonly string[] = ['id', 'uid', 'name']

/**
 * Shows the object that holds a place, on both sides alike: the members that name the row, and those next to the place in the order of
 * v1. `chain` leads from its first member to the place.
 */
export function enclosing(object: Both, chain: readonly JsonPath[], redacted: Redacted, size: Size): Pick<Excerpt, 'v1' | 'v2' | 'path'> {
  const secret = chain.findIndex(({ at }) => isSecretName(at))
  const steps = (secret < 0 ? chain : chain.slice(0, secret + 1)).map((place) => stepTo(place, size))
  const side = (name: 'v1' | 'v2') => (object[name] === undefined ? {} : { [name]: shown(object[name], '', steps, redacted, size) })
  return { ...side('v1'), ...side('v2'), path: steps.map((step) => nameOf(step, step.member, redacted)) }
}

/** One level on the way to the place. */
interface Step {
  /** The member that leads on, as sent. */
  readonly member: string
  /** True if its name is data. */
  readonly isKey: boolean
  /** The members that are shown. */
  readonly names: readonly string[]
}

function stepTo({ up, at, where }: JsonPath, { members }: Size): Step {
  const all = union(namesIn(up?.v1), namesIn(up?.v2))
  const place = all.indexOf(at)
  const near = (name: string, nth: number) => Math.abs(nth - place) <= members || NAMING.includes(name)
  return { member: at, isKey: where === ANY, names: all.filter(near) }
}

function shown(value: unknown, name: string, [step, ...further]: readonly Step[], redacted: Redacted, size: Size): unknown {
  if (!step || !isObject(value) || isSecretName(name)) return redacted.value(value, name, size.value)
  const own = step.names.filter((one) => Object.hasOwn(value, one))
  const members = own.map((one) => {
    const inner = one === step.member ? shown(value[one], one, further, redacted, size) : redacted.value(value[one], one, size.value)
    return [nameOf(step, one, redacted), inner] as const
  })
  return Object.fromEntries([...members, ...leftOut(Object.keys(value).length - own.length)])
}

/** A name on the way to the place is in every record of it, unless it is a key of a user's map. */
function nameOf({ member, isKey }: Step, name: string, redacted: Redacted): string {
  return name === member && !isKey ? name : redacted.key(name)
}

function namesIn(value: unknown): readonly string[] {
  return isObject(value) ? Object.keys(value) : []
}

/** Returns all names in the order of v1. A name that only v2 has comes after the one before it. */
function union(v1: readonly string[], v2: readonly string[]): readonly string[] {
  const known = new Set(v1)
  const after = new Map<string | undefined, string[]>()
  let before: string | undefined
  for (const name of v2) {
    if (known.has(name)) before = name
    else after.set(before, [...(after.get(before) ?? []), name])
  }
  return [...(after.get(undefined) ?? []), ...v1.flatMap((name) => [name, ...(after.get(name) ?? [])])]
}
