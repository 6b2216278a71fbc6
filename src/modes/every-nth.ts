/** Returns a function that is true for the first of every `nth` uses of each name. */
export function everyNth(nth: number): (name: string) => boolean {
  const counts = new Map<string, number>()
  return (name) => {
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    return nth > 0 && count % nth === 0
  }
}
