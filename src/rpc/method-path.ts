/** `/package.Service/Method` → `package.Service`. */
export function serviceIn(path: string): string {
  return path.slice(1, path.lastIndexOf('/'))
}

/** `/package.Service/Method` → `Method`. */
export function methodIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
