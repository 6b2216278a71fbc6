/** Returns the name of a component from the name in a table: `role binding request` → `RoleBindingRequest`. */
export function componentName(...words: readonly string[]): string {
  return words
    .flatMap((word) => word.split(/[^A-Za-z0-9]+/))
    .filter((word) => word !== '')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}
