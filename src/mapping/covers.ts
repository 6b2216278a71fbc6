/** `iam.*` covers `iam.groups.list`; `*.delete` covers every delete; `*` covers everything. */
export function covers(pattern: string, operation: string): boolean {
  const expression = pattern
    .split('*')
    .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
    .join('.*')
  return new RegExp(`^${expression}$`).test(operation)
}
