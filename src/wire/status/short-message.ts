/**
 * Bytes of an encoded message. The trailers are headers: C-core refuses more than 8 KiB of them, and Node ends the connection at 64 KiB. The
 * message stands in them twice, beside the details.
 */
const MOST = 1500

const CUT = '…'

/** Returns a message that trailers can carry: a longer one is cut between two characters. */
export function shortMessage(message: string): string {
  if (message.length <= MOST / LONGEST) return message
  let room = MOST
  let kept = 0
  let end = 0
  for (const character of message) {
    room -= encodedLength(character)
    if (room < 0) return message.slice(0, kept) + CUT
    end += character.length
    if (room >= encodedLength(CUT)) kept = end
  }
  return message
}

/** Bytes that one unit of UTF-16 becomes: `%E2%80%A6`. */
const LONGEST = 9

function encodedLength(character: string): number {
  const isPlain = character >= ' ' && character <= '~' && character !== '%'
  return isPlain ? 1 : 3 * Buffer.byteLength(character)
}
