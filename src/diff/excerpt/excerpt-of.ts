import type { Finding } from '../compare/finding.ts'
import type { Both, JsonPath } from '../compare/json-path.ts'
import type { Redacted } from '../redact/redacted.ts'
import { enclosing } from './enclosing.ts'
import type { Excerpt } from './excerpt.ts'
import { isRow, isSecret, pointerTo } from './place.ts'
import { movedRows, rowsAround } from './rows-around.ts'
import { SIZES, type Size } from './size.ts'

/** Most characters of one excerpt. A larger one is made smaller, or left out. */
export const LARGEST = 2_048

/** Shows what is around a finding. Returns undefined outside of the bodies, below a member with a secret name, and if it is too large. */
export function excerptOf({ kind, place, v1, v2 }: Finding, redacted: Redacted): Excerpt | undefined {
  if (!place) return undefined
  for (const size of SIZES) {
    const made = kind === 'order' ? movedRows(place, { v1, v2 }, redacted, size) : around(place, redacted, size)
    if (!made || JSON.stringify(made).length <= LARGEST) return made
  }
  return undefined
}

function around(place: JsonPath, redacted: Redacted, size: Size): Excerpt | undefined {
  if (!place.up) return answersOf(place, redacted, size)
  if (isRow(place)) return rowsAround(place, redacted, size)
  const chain = chainTo(place)
  const start = chain[0]?.up
  if (!start || isSecret(start)) return undefined
  return { at: pointerTo(start, redacted), ...enclosing(start, chain, redacted, size) }
}

/** Returns two whole answers in short. */
export function answersOf({ v1, v2 }: Both, redacted: Redacted, size: Size = SIZES[0]): Excerpt | undefined {
  if (v1 === undefined && v2 === undefined) return undefined
  const short = (value: unknown) => redacted.value(value, '', size.answer)
  return { at: '', ...(v1 !== undefined && { v1: short(v1) }), ...(v2 !== undefined && { v2: short(v2) }) }
}

/** Most objects that are shown around a place, one within the other. */
const LEVELS = 3

/** Returns the places from the first one below the shown object down to the place itself. */
function chainTo(place: JsonPath): readonly JsonPath[] {
  const chain = [place]
  for (let here = place.up; here?.up && !isRow(here) && chain.length < LEVELS; here = here.up) chain.unshift(here)
  return chain
}
