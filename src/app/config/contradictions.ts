import { resolve } from 'node:path'
import type { Config, SettingKey } from './settings.ts'

/** Returns one sentence for each pair of values that are allowed one by one but contradict each other. */
export function contradictionsIn(config: Config): readonly string[] {
  return CONTRADICTIONS.flatMap((why) => why(config) ?? [])
}

/** Each returns a sentence, or undefined if the values go together. */
const CONTRADICTIONS: readonly ((config: Config) => string | undefined)[] = [
  whyEndsTooEarly,
  whySameToken,
  whyHalfOidc,
  whyNoRoom,
  whyUnsigned,
  whyNoV1,
  whyWrongTls,
  whySameFile,
  (config) => whySamePort(addressOf(config, 'listen'), addressOf(config, 'admin')),
  whyLeadsBack,
]

function whyEndsTooEarly({ 'v1.deprecation': deprecation, 'v1.sunset': sunset }: Config): string | undefined {
  if (deprecation === undefined || sunset === undefined || sunset >= deprecation) return undefined
  return `v1.sunset (${day(sunset)}) is before v1.deprecation (${day(deprecation)}), but nothing ends before it is deprecated (RFC 9745 §4).`
}

function whySameToken({ 'admin.token': token, 'admin.readToken': readToken, 'admin.tokens': named }: Config): string | undefined {
  const tokens = named.map((one) => one.token)
  if (tokens.some((one, at) => one === token || tokens.indexOf(one) < at)) {
    return 'admin.tokens has a token that admin.token or another name has too, so nobody could tell who used it; give each its own.'
  }
  if (readToken === undefined || (token !== readToken && !tokens.includes(readToken))) return undefined
  const same = token === readToken ? 'admin.token' : 'one of admin.tokens'
  return `admin.readToken is the same as ${same}, but whoever has it would change modes; give two tokens.`
}

function whyHalfOidc(config: Config): string | undefined {
  const { 'admin.oidc.issuer': issuer, 'admin.oidc.audience': audience, 'admin.oidc.read': read, 'admin.oidc.write': write } = config
  if (issuer === undefined) {
    const given = audience === undefined ? (write === undefined ? 'read' : 'write') : 'audience'
    if ((audience ?? read ?? write) === undefined) return undefined
    return `admin.oidc.${given} is set without admin.oidc.issuer, so nobody could use it; give the issuer or leave out the first.`
  }
  if (audience === undefined) {
    return 'admin.oidc.issuer is set without admin.oidc.audience, so a token for any other service would be accepted; give the audience.'
  }
  if ((read ?? write) !== undefined) return undefined
  return 'admin.oidc.issuer is set without admin.oidc.read and admin.oidc.write, so no token would grant a right; give at least one.'
}

function whyNoRoom(config: Config): string | undefined {
  const {
    'limits.requestBytes': body,
    'limits.bodiesBytes': bodies,
    'limits.messageBytes': message,
    'limits.messagesBytes': messages,
  } = config
  if (body > bodies) {
    return `limits.bodiesBytes (${bodies}) is less than limits.requestBytes (${body}), so the largest bodies would always be refused; raise the first.`
  }
  if (message <= messages) return undefined
  return `limits.messagesBytes (${messages}) is less than limits.messageBytes (${message}), so the longest answers over gRPC would always be refused; raise the first.`
}

function whyUnsigned({ 'notify.url': url, 'notify.secret': secret }: Config): string | undefined {
  if (url === undefined || secret !== undefined) return undefined
  return 'notify.url is set without notify.secret, so its receiver could not tell these events from forged ones; give the output of: echo whsec_$(openssl rand -base64 32)'
}

function whyNoV1({ 'upstream.v1Grpc': how, 'upstream.v1': v1 }: Config): string | undefined {
  if (how === 'relay' || v1 !== undefined) return undefined
  return `upstream.v1Grpc is ${how} without upstream.v1, so no call would reach a v1 service; give upstream.v1 or leave out the first.`
}

/** Each of these files belongs to what writes it. */
function whySameFile({ 'store.url': store, 'store.cache': cache, 'records.file': records }: Config): string | undefined {
  const written = [
    ['store.url', store?.startsWith('file:') ? store.slice('file:'.length) : undefined],
    ['store.cache', cache],
    ['records.file', records],
  ] as const
  const paths = written.map(([, path]) => (path === undefined ? undefined : resolve(path)))
  const at = paths.findIndex((path, nth) => path !== undefined && paths.indexOf(path) < nth)
  if (at < 0) return undefined
  return `${written[at]?.[0]} names the file of ${written[paths.indexOf(paths[at])]?.[0]}, so each would overwrite the other; give each its own.`
}

/** An address that a process listens on, and the names of the settings that give it. */
interface OwnAddress {
  readonly host: string
  readonly port: number
  readonly name: string
}

export function addressOf(config: Config, own: keyof typeof OWN): OwnAddress {
  return { host: config[`${own}.host`], port: config[`${own}.port`], name: `${own}.port` }
}

/** Returns one sentence if no process can listen on both addresses. Port 0 is any free port. */
export function whySamePort(one: OwnAddress, other: OwnAddress): string | undefined {
  const isShared = one.host === other.host || EVERY.includes(one.host) || EVERY.includes(other.host) || isSameHost(one.host, other.host)
  if (one.port !== other.port || one.port === 0 || !isShared) return undefined
  return `${one.name} and ${other.name} are both ${one.port}, but a port has one listener; give each its own (0 = any).`
}

function day(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

/** The proxy's own listeners and the consequence of a service at that address. */
const OWN = {
  listen: 'every request would come back',
  admin: 'whoever reaches the proxy would reach its admin port',
} as const

/**
 * Returns one sentence if an address that the proxy calls is its own, otherwise undefined. Another name for the same address is found out only
 * when the first request comes back.
 */
function whyLeadsBack(config: Config): string | undefined {
  for (const key of ['upstream.v2', 'upstream.v1', 'notify.url'] as const) {
    for (const own of ['listen', 'admin'] as const) {
      const address = config[key]
      if (address === undefined || !isAt(new URL(address), config[`${own}.host`], config[`${own}.port`])) continue
      const where = `is the proxy's own address (${own}.host, ${own}.port)`
      // The address of the receiver is not shown: it may hold a token.
      if (key === 'notify.url') return `${key} ${where}, which takes no events; give the address of a receiver.`
      return `${key} (${address}) ${where}, so ${OWN[own]}; give the address of the service.`
    }
  }
  return undefined
}

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

function isAt({ protocol, hostname, port }: URL, host: string, at: number): boolean {
  return at !== 0 && Number(port || PORTS[protocol]) === at && isSameHost(hostname.replace(/^\[|\]$/g, ''), host)
}

const LOOPBACK = ['127.0.0.1', '::1', 'localhost']
export const EVERY = ['0.0.0.0', '::']

function isSameHost(name: string, host: string): boolean {
  if (name === host) return true
  if (EVERY.includes(host) || host === 'localhost') return LOOPBACK.includes(name)
  return name === 'localhost' && LOOPBACK.includes(host)
}

/** The settings that name files of TLS, by whom they are shown to. */
export const FILES = {
  clients: { key: 'tls.key', cert: 'tls.cert', ca: 'tls.clientCa' },
  v2: { key: 'upstream.v2Key', cert: 'upstream.v2Cert', ca: 'upstream.v2Ca' },
  v1: { key: 'upstream.v1Key', cert: 'upstream.v1Cert', ca: 'upstream.v1Ca' },
} as const satisfies Readonly<Record<string, Readonly<Record<'key' | 'cert' | 'ca', SettingKey>>>>

export type Party = keyof typeof FILES
type TlsKey = (typeof FILES)[Party][keyof (typeof FILES)[Party]]

/** The settings of TLS; a running proxy follows their files. */
export const TLS_KEYS = Object.values(FILES).flatMap((files) => Object.values(files)) as readonly TlsKey[]

export type TlsConfig = Pick<Config, TlsKey | 'upstream.v1' | 'upstream.v2'>

/** Returns a sentence without its end if only one of key and certificate is set. */
export function whyHalf(config: TlsConfig, party: Party): string | undefined {
  const { key, cert } = FILES[party]
  if ((config[key] === undefined) === (config[cert] === undefined)) return undefined
  return `${key} and ${cert} go together: set both, or none ${party === 'clients' ? 'for plain text' : 'to show no certificate'}`
}

/** Returns one sentence for settings of TLS that contradict each other or have no use. */
function whyWrongTls(config: TlsConfig): string | undefined {
  for (const party of Object.keys(FILES) as Party[]) {
    const half = whyHalf(config, party)
    if (half !== undefined) return `${half}.`
  }
  if (config['tls.clientCa'] !== undefined && config['tls.cert'] === undefined) {
    return 'tls.clientCa is set without tls.cert, so the port speaks plain text and asks no client for a certificate; set tls.key and tls.cert.'
  }
  for (const service of ['v2', 'v1'] as const) {
    const base = config[`upstream.${service}`]
    const set = Object.values(FILES[service]).find((key) => config[key] !== undefined)
    // Without upstream.v2 no start gets here.
    if (set === undefined || (base === undefined && service === 'v2')) continue
    if (base === undefined) return `${set} is set without upstream.${service}, so nobody would use it; set both or none.`
    if (!base.startsWith('https:')) return `${set} is set, but upstream.${service} (${base}) speaks plain text; give it as https://.`
  }
  return whyTwoIdentities(config)
}

/** One pool of connections serves both services, so that one origin has one identity. */
function whyTwoIdentities(config: TlsConfig): string | undefined {
  const { 'upstream.v1': v1, 'upstream.v2': v2 } = config
  if (v1 === undefined || v2 === undefined || new URL(v1).origin !== new URL(v2).origin) return undefined
  const other = (['ca', 'cert', 'key'] as const).find((file) => config[FILES.v1[file]] !== config[FILES.v2[file]])
  if (other === undefined) return undefined
  return `upstream.v1 and upstream.v2 are one origin, but ${FILES.v1[other]} and ${FILES.v2[other]} differ; give both the same file.`
}
