/** Returns a function that is true for the first of every `nth()` uses of each name; 0 = never. */
export function everyNth(nth: () => number): (name: string) => boolean {
  const counts = new Map<string, number>()
  return (name) => {
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    const every = nth()
    return every > 0 && count % every === 0
  }
}
