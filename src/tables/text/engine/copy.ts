/** Copies so many bytes, and may write up to 15 more behind them, which whoever writes on writes over. Returns where they end. */
export function copy(to: usize, from: usize, length: usize): usize {
  for (let at: usize = 0; at < length; at += 16) v128.store(to + at, v128.load(from + at))
  return to + length
}

/** Whether so many bytes are the same; 15 bytes behind both may be looked at. */
export function isSame(a: usize, b: usize, length: usize): bool {
  let at: usize = 0
  for (; at + 16 <= length; at += 16) if (differences(a + at, b + at) !== 0) return false
  return (differences(a + at, b + at) & ((1 << (<i32>(length - at))) - 1)) === 0
}

/** One bit for each of 16 bytes that are not the same. */
function differences(a: usize, b: usize): i32 {
  return i8x16.bitmask(i8x16.ne(v128.load(a), v128.load(b)))
}
