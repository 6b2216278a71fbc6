import type { Marker } from './marker.ts'

/** Returns the name of the shell variable for a value: `group_uid_1`. */
export function variableOf({ call, path }: Marker): string {
  return `${path.replaceAll('.', '_')}_${call}`
}

/** Returns the name of the shell variable for the whole answer of a call. */
export function answerOf(call: number): string {
  return `answer_${call}`
}

/** The shell command that picks from the values of a list. */
export type PickedValues = string

export const FIRST: PickedValues = 'head -n 1'

/** Each different value, in a line of its own. */
export const EVERY: PickedValues = 'sort -u'

/** Picks all different values for a parameter that may be repeated: `a&uidp.ids=b` where its first `uidp.ids=` is written already. */
export function joined(parameter: string): PickedValues {
  return `${EVERY} | paste -sd '&' - | sed 's/&/&${parameter}=/g'`
}

/** Returns the shell command that prints one value of a captured answer, still JSON-escaped, or the values that `pick` takes of a list. */
export function extract(marker: Marker, pick: PickedValues): string {
  return `printf '%s' "$${answerOf(marker.call)}" | tr -d '\\n' | grep -oE '${pattern(marker)}' | sed -E 's/.*: *"//; s/"$//' | ${pick}`
}

const TEXT = String.raw`"([^"\\]|\\.)*"`

/**
 * Returns the pattern of a member's name. A row's uid stands first in an object of an array; a nested object's uid follows that object's
 * name.
 */
function pattern({ row, path }: Marker): string {
  const [member = '', inner] = path.split('.')
  if (inner !== undefined) return `"${member}": *\\{[^{}]*"${inner}": *${TEXT}`
  return row > 0 && member === 'uid' ? `[[,] *\\{ *"uid": *${TEXT}` : `"${member}": *${TEXT}`
}
