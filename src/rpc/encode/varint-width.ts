/** The greatest number of bytes of a varint. */
export const LONGEST_VARINT = 10

/** Returns the number of bytes of a length as a varint. */
export function widthOf(length: number): number {
  if (length < 0x80) return 1
  if (length < 0x40_00) return 2
  if (length < 0x20_00_00) return 3
  return length < 0x10_00_00_00 ? 4 : 5
}
