/** `1 request`, `2 requests`. */
export function many(n: number, one: string, several = `${one}s`): string {
  return `${n} ${n === 1 ? one : several}`
}
