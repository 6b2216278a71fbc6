import { withoutSecrets } from './secrets.ts'

/** Words of paths; whatever else stands in one may be an id, or anybody's secret. */
const WORD = /^[A-Za-z][A-Za-z_]{0,30}(?::[A-Za-z]{1,30})?$|^v\d$/

/** A path with everything but its words left out. */
export function anonymousPath(path: string): string {
  const parts = withoutSecrets(path)
    .split('/')
    .map((part) => (part === '' || WORD.test(part) ? part : '…'))
  return parts.join('/').replace(/…(?:\/…)+/g, '…')
}
