/** True if the pattern covers the operation. `iam.*` covers `iam.groups.list`, `*.delete` every delete, `*` everything. */
export function covers(pattern: string, operation: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return pattern === operation
  if (!operation.startsWith(first) || !operation.endsWith(last)) return false
  let at = first.length
  for (const part of others) {
    const found = operation.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at + last.length <= operation.length
}
