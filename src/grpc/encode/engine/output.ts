import { copy } from '../../../tables/text/engine/copy'
import { TAG, TAG_LENGTH } from './layout'

/** The place of the next byte. */
export let out: usize = 0

export function moveTo(place: usize): void {
  out = place
}

export function putByte(byte: u8): void {
  store<u8>(out, byte)
  out += 1
}

export function putTag(member: usize): void {
  store<u32>(out, load<u32>(member, TAG))
  out += load<usize>(member, TAG_LENGTH)
}

export function putVarint(value: u64): void {
  let rest = value
  for (; rest > 0x7f; rest >>= 7) putByte(<u8>rest | 0x80)
  putByte(<u8>rest)
}

/** Writes bytes with their length before them. */
export function putBytes(from: usize, length: usize): void {
  putVarint(length)
  out = copy(out, from, length)
}

/** Begins a part whose length stands before it: `width` bytes are left for that. Returns the place of its first byte. */
export function open(width: usize): usize {
  out += width
  return out
}

/** Ends the part that began at `start`. Returns the number of bytes that its length took. */
export function close(start: usize, width: usize): usize {
  const length = out - start
  const needed = widthOf(length)
  if (needed !== width) memory.copy(start - width + needed, start, length)
  out = start - width
  putVarint(length)
  out += length
  return needed
}

function widthOf(length: usize): usize {
  if (length < 0x80) return 1
  if (length < 0x40_00) return 2
  return length < 0x20_00_00 ? 3 : 4
}
