/** Bytes that all answers to the calls of one v1 request may have together. A call that needs more is broken off. */
export interface AnswerRoom {
  /** Bytes that are left; below 0 once an answer needed more. */
  left: number
}

/** Bytes that every answer counts besides its body, so that pages without end come to an end even if they are empty. */
const HEAD = 1024

export function createAnswerRoom(bytes: number): AnswerRoom {
  return { left: bytes }
}

export function isExceeded({ left }: AnswerRoom): boolean {
  return left < 0
}

/** Takes an answer's head. Returns false if the body, of this length if it is known, has no room. */
export function takeHead(room: AnswerRoom, length: number | undefined): boolean {
  room.left -= HEAD
  if (length !== undefined && length > room.left) fill(room)
  return !isExceeded(room)
}

/** Notes that an answer needs more than is left. */
export function fill(room: AnswerRoom): void {
  room.left = -1
}

/** Takes a piece of a body, of which some bytes may be taken already. Returns false if it has no room. */
export function takePiece(room: AnswerRoom, piece: Uint8Array, taken = 0): boolean {
  room.left -= weightOf(piece) - taken
  return !isExceeded(room)
}

/** Bytes that each value counts at least: what small values cost is the time to compare them. */
const VALUE = 20
const COMMA = 0x2c

/** Returns the bytes of JSON text, or more if it holds many small values. A value is told by its comma. */
export function weightOf(text: Uint8Array): number {
  let values = 0
  for (let at = 0; at < text.length; at += 1) if (text[at] === COMMA) values += 1
  return Math.max(text.length, VALUE * values)
}
