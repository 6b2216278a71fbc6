import { withoutSecrets } from './secrets.ts'

/** Words of paths. Anything else in a path may be an id or a secret. */
const WORD = /^[A-Za-z][A-Za-z_]{0,30}(?::[A-Za-z]{1,30})?$|^v\d$/

/** Returns a path in which everything but its words is left out. */
export function anonymousPath(path: string): string {
  const parts = withoutSecrets(path)
    .split('/')
    .map((part) => (part === '' || WORD.test(part) ? part : '…'))
  return parts.join('/').replace(/…(?:\/…)+/g, '…')
}
