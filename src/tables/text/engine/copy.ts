/** Copies `length` bytes and returns their end. It may write up to 15 bytes more, which the next write overwrites. */
export function copy(to: usize, from: usize, length: usize): usize {
  v128.store(to, v128.load(from))
  if (length > 16) {
    v128.store(to + 16, v128.load(from + 16))
    for (let at: usize = 32; at < length; at += 16) v128.store(to + at, v128.load(from + at))
  }
  return to + length
}

/** True if so many bytes are equal. It may read up to 15 bytes behind both. */
export function isSame(a: usize, b: usize, length: usize): bool {
  let at: usize = 0
  for (; at + 16 <= length; at += 16) if (differences(a + at, b + at) !== 0) return false
  return (differences(a + at, b + at) & ((1 << (<i32>(length - at))) - 1)) === 0
}

/** Returns one bit for each of 16 bytes that differs. */
function differences(a: usize, b: usize): i32 {
  return i8x16.bitmask(i8x16.ne(v128.load(a), v128.load(b)))
}
