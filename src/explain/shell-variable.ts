import type { Marker } from './marker.ts'

/** The name of the shell variable that holds a value: `group_uid_1`. */
export function variableOf({ call, path }: Marker): string {
  return `${path.replaceAll('.', '_')}_${call}`
}

/** The name of the shell variable that holds the whole answer of a call. */
export function answerOf(call: number): string {
  return `answer_${call}`
}

/** The shell command that prints one value of a captured answer, still JSON-escaped: the first of it, or for a list each different one. */
export function extract(marker: Marker, every: boolean): string {
  const pick = every ? 'sort -u' : 'head -n 1'
  return `printf '%s' "$${answerOf(marker.call)}" | tr -d '\\n' | grep -oE '${pattern(marker)}' | sed -E 's/.*: *"//; s/"$//' | ${pick}`
}

const TEXT = String.raw`"([^"\\]|\\.)*"`

/** A member by name; a uid of a row stands first in an object of an array, one of a nested object behind the object's own name. */
function pattern({ row, path }: Marker): string {
  const [member = '', inner] = path.split('.')
  if (inner !== undefined) return `"${member}": *\\{[^{}]*"${inner}": *${TEXT}`
  return row > 0 && member === 'uid' ? `[[,] *\\{ *"uid": *${TEXT}` : `"${member}": *${TEXT}`
}
