/** A masked text: nothing in its hash says where it differs. */
const MASKED = /text-\d+-[0-9a-f]{8}/

/** In a shorter line everybody sees what differs. */
const LONG = 48

/** Splits a line into the part that it shares with the other one, the part that differs, and the end that they share. */
export function differingSpan(text: string, other: string | undefined): readonly [before: string, differing: string, after: string] {
  if (other === undefined || other === text || text.length < LONG || MASKED.test(text) || text.includes('\n')) return [text, '', '']
  const most = Math.min(text.length, other.length)
  let start = 0
  while (start < most && text[start] === other[start]) start++
  let end = 0
  while (end < most - start && text.at(-1 - end) === other.at(-1 - end)) end++
  return [text.slice(0, start), text.slice(start, text.length - end), text.slice(text.length - end)]
}
