import { resolve } from 'node:path'
import { leadsBack } from './own-address.ts'
import type { Config } from './settings.ts'

/** Returns one sentence for each pair of values that are allowed one by one but contradict each other. */
export function contradictionsIn(config: Config): readonly string[] {
  return FINDERS.flatMap((find) => find(config) ?? [])
}

const FINDERS: readonly ((config: Config) => string | undefined)[] = [
  endsTooEarly,
  readsAndChanges,
  hasNoRoom,
  isUnsigned,
  hasNoV1,
  hasHalfAPair,
  writesOneFileTwice,
  leadsBack,
]

function endsTooEarly({ 'v1.deprecation': deprecation, 'v1.sunset': sunset }: Config): string | undefined {
  if (deprecation === undefined || sunset === undefined || sunset >= deprecation) return undefined
  return `v1.sunset (${day(sunset)}) is before v1.deprecation (${day(deprecation)}), but nothing ends before it is deprecated (RFC 9745 §4).`
}

function readsAndChanges({ 'admin.token': token, 'admin.readToken': readToken, 'admin.tokens': named }: Config): string | undefined {
  const tokens = named.map((one) => one.token)
  if (tokens.some((one, at) => one === token || tokens.indexOf(one) < at)) {
    return 'admin.tokens has a token that admin.token or another name has too, so that nobody could tell who used it; give each its own.'
  }
  if (readToken === undefined || (token !== readToken && !tokens.includes(readToken))) return undefined
  const same = token === readToken ? 'admin.token' : 'one of admin.tokens'
  return `admin.readToken is the same as ${same}, but whoever has it would change modes; give two tokens.`
}

function hasNoRoom({ 'limits.requestBytes': one, 'limits.bodiesBytes': all }: Config): string | undefined {
  if (one <= all) return undefined
  return `limits.bodiesBytes (${all}) is less than limits.requestBytes (${one}), so that the largest bodies would always be refused; raise the first.`
}

function isUnsigned({ 'notify.url': url, 'notify.secret': secret }: Config): string | undefined {
  if (url === undefined || secret !== undefined) return undefined
  return 'notify.url is set without notify.secret, so that its receiver could not tell these events from forged ones; give the output of: echo whsec_$(openssl rand -base64 32)'
}

function hasNoV1({ 'upstream.v1Grpc': how, 'upstream.v1': v1 }: Config): string | undefined {
  if (how === 'relay' || v1 !== undefined) return undefined
  return `upstream.v1Grpc is ${how} without upstream.v1, so that no call would reach a v1 service; give upstream.v1 or leave out the first.`
}

function hasHalfAPair({ 'tls.key': key, 'tls.cert': cert }: Config): string | undefined {
  return (key === undefined) === (cert === undefined) ? undefined : 'tls.key and tls.cert go together: set both, or none for plain text.'
}

/** Each of these files belongs to what writes it. */
function writesOneFileTwice({ 'store.url': store, 'store.cache': cache, 'records.file': records }: Config): string | undefined {
  const written = [
    ['store.url', store?.startsWith('file:') ? store.slice('file:'.length) : undefined],
    ['store.cache', cache],
    ['records.file', records],
  ] as const
  const paths = written.map(([, path]) => (path === undefined ? undefined : resolve(path)))
  const at = paths.findIndex((path, nth) => path !== undefined && paths.indexOf(path) < nth)
  if (at < 0) return undefined
  return `${written[at]?.[0]} names the file of ${written[paths.indexOf(paths[at])]?.[0]}, so that each would write over the other; give each its own.`
}

function day(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
