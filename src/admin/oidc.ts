/**
 * Tokens of an identity provider on the admin port: JWTs that one issuer signed for one audience (OpenID Connect, RFC 9068).
 *
 * The keys are those that the issuer publishes. They are read with the first token, within a time and a size, and never from elsewhere.
 * Only asymmetric signatures count: with a symmetric one, the public key of the issuer would sign for everybody.
 */
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { Logger } from 'pino'
import { ApiError, systemReason } from '../errors.ts'
import { Agent } from '../serve/upstream/undici.ts'
import { isObject } from '../tables/json.ts'
import type { Grant } from './admin.ts'

export interface OidcSettings {
  readonly issuer: string
  readonly audience: readonly string[]
  /** The claim whose values give a right. */
  readonly claim: string
  /** Values that may change something. */
  readonly write: readonly string[]
  /** Values that may only read. */
  readonly read: readonly string[]
  /** The claim that names the person. */
  readonly name: string
}

/** Returns what a JWT permits. It cannot throw. */
export type Verify = (token: string) => Promise<Grant>

const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

/** Seconds by which the clocks of the issuer and of this machine may differ. */
const TOLERANCE_S = 30

/** How long an answer of the issuer may take, and how large it may be. */
const MOST = { ms: 5_000, bytes: 2 ** 20 }

/** Milliseconds for which what the issuer said of itself holds, and for which it is not asked again after it failed. */
const HOLDS_MS = 3_600_000
const RESTS_MS = 5_000

/** `now` returns milliseconds of a clock that never goes back. */
export function createVerify(settings: OidcSettings, log: Pick<Logger, 'warn'>, now = () => performance.now()): Verify {
  const keysNow = createKeys(settings.issuer, now)
  let told = ''
  const unknown = (cause: unknown): Grant => {
    const why = reasonOf(cause)
    if (why !== told) log.warn({ what: 'oidc' }, `the keys of admin.oidc.issuer cannot be read: ${why}`)
    told = why
    return { right: 'none', refused: NO_KEYS }
  }
  return async (token) => {
    try {
      const { issuer, audience } = settings
      const limits = { issuer, audience: [...audience], algorithms: ALGORITHMS, clockTolerance: TOLERANCE_S, requiredClaims: ['exp'] }
      const keys = await keysNow()
      const { payload, protectedHeader } = await jwtVerify(token, keys, limits)
      told = ''
      return TYPES.test(protectedHeader.typ ?? 'JWT') ? grantOf(payload, settings) : refusal('it is not an identity or access token')
    } catch (error) {
      const why = refusedWhy(error)
      return why === undefined ? unknown(error) : refusal(why)
    }
  }
}

/** Types of identity and access tokens. Others, such as those that announce a logout, are no credentials. */
const TYPES = /^(?:application\/)?(?:at\+)?jwt$/i

const NO_KEYS = new ApiError('UNAVAILABLE', 'the issuer of admin.oidc cannot be asked for its keys; the log says why', {
  headers: { 'retry-after': String(RESTS_MS / 1000) },
})

function refusal(why: string): Grant {
  const headers = { 'www-authenticate': 'Bearer error="invalid_token"' }
  return { right: 'none', refused: new ApiError('UNAUTHENTICATED', `admin.oidc does not accept this token: ${why}`, { headers }) }
}

/** Completes "does not accept this token: …"; undefined if the token is not to blame. */
function refusedWhy(error: unknown): string | undefined {
  if (error instanceof errors.JWTExpired) return 'it has expired'
  if (error instanceof errors.JWTClaimValidationFailed) return CLAIMS[error.claim] ?? `its claim ${JSON.stringify(error.claim)} is wrong`
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature is wrong'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'its algorithm is not one of the asymmetric ones'
  if (error instanceof errors.JWKSNoMatchingKey) return 'the issuer has no such key'
  if (error instanceof errors.JWKSMultipleMatchingKeys) return 'it does not say which key signed it (kid)'
  const isUnread = error instanceof errors.JWTInvalid || error instanceof errors.JWSInvalid || error instanceof errors.JOSENotSupported
  return isUnread ? 'it is not a signed JWT' : undefined
}

const CLAIMS: Readonly<Record<string, string>> = {
  iss: 'another issuer made it (claim "iss")',
  aud: 'it is meant for somebody else (claim "aud")',
  nbf: 'it is not valid yet (claim "nbf")',
  exp: 'it says no time at which it expires (claim "exp")',
}

function grantOf(payload: JWTPayload, { claim, write, read, name }: OidcSettings): Grant {
  const token = nameOf(payload, name)
  const values = valuesOf(payload, claim)
  const has = (wanted: readonly string[]) => wanted.some((one) => values.includes(one))
  if (has(write)) return { right: 'change', token }
  const shown = JSON.stringify(claim)
  if (has(read)) {
    const refused = new ApiError(
      'PERMISSION_DENIED',
      `this token only reads: to change something, its claim ${shown} needs a value of admin.oidc.write`,
    )
    return { right: 'read', token, refused }
  }
  const message = `this token may neither read nor change anything: its claim ${shown} has no value of admin.oidc.read or admin.oidc.write`
  return { right: 'none', token, refused: new ApiError('PERMISSION_DENIED', message) }
}

/** Claims whose values are words with spaces between them (RFC 8693 §4.2, and the same of Microsoft). */
const WORDS: ReadonlySet<string> = new Set(['scope', 'scp'])

/** The texts of a claim. A name with dots is that of a claim first (`https://example.com/roles`), then a path (`realm_access.roles`). */
function valuesOf(payload: JWTPayload, claim: string): readonly string[] {
  const value = Object.hasOwn(payload, claim) ? payload[claim] : claim.split('.').reduce<unknown>(memberOf, payload)
  const texts = (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string')
  return WORDS.has(claim) ? texts.flatMap((one) => one.split(' ')) : texts
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

const LONGEST_NAME = 100

/**
 * Names the person. An address that the issuer has not verified may be that of somebody else. The prefix keeps the name apart from those of
 * admin.tokens.
 */
function nameOf(payload: JWTPayload, claim: string): string {
  // Some issuers write the claim as a text.
  const isUnverified = claim === 'email' && String(payload.email_verified) === 'false'
  const given = isUnverified ? undefined : valuesOf(payload, claim)[0]
  // Some issuers number their users.
  const name = String(given || payload.sub || 'unknown')
  return `oidc:${name.replace(/[\p{C}\s]+/gu, '?').slice(0, LONGEST_NAME)}`
}

/** Returns a function that returns the keys of the issuer. What the issuer says of itself is read once an hour. */
function createKeys(issuer: string, now: () => number): () => Promise<JWTVerifyGetKey> {
  let found: { readonly keys: Promise<JWTVerifyGetKey>; until: number } | undefined
  let failed: { readonly error: unknown; readonly until: number } | undefined
  /** A failed answer is not asked for again at once, however many tokens come. */
  const read = async (url: string) => {
    if (failed && now() < failed.until) throw failed.error
    try {
      const answer = await get(url)
      failed = undefined
      return answer
    } catch (error) {
      failed = { error, until: now() + RESTS_MS }
      throw error
    }
  }
  const discover = async () => {
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const url = new URL(keysAddress(await read(address), issuer))
    return createRemoteJWKSet(url, { timeoutDuration: MOST.ms, [customFetch]: async (from) => new Response(await read(from)) })
  }
  return () => {
    if (!found || now() >= found.until) {
      const begun = { keys: discover(), until: now() + HOLDS_MS }
      begun.keys.catch(() => {
        begun.until = 0
      })
      found = begun
    }
    return found.keys
  }
}

/** Returns where the keys are. The document must be that of this issuer (OpenID Connect Discovery 1.0, section 4.3). */
function keysAddress(text: string, issuer: string): string {
  const document: unknown = JSON.parse(text)
  if (!isObject(document) || document.issuer !== issuer) {
    throw new Error(`its document names another issuer; admin.oidc.issuer must be the same, letter by letter`)
  }
  const { jwks_uri: address } = document
  if (typeof address !== 'string' || !URL.canParse(address)) throw new Error('its document names no address of keys (jwks_uri)')
  const { protocol } = new URL(address)
  if (protocol !== 'https:' && protocol !== new URL(issuer).protocol) throw new Error('its keys are not behind https://')
  return address
}

/** Gets a document within the limits. A redirect is no document. */
async function get(url: string): Promise<string> {
  const { origin, pathname, search } = new URL(url)
  const times = { headersTimeout: MOST.ms, bodyTimeout: MOST.ms, connect: { timeout: MOST.ms } }
  const agent = new Agent({ connections: 1, maxResponseSize: MOST.bytes, ...times })
  const signal = AbortSignal.timeout(MOST.ms)
  try {
    const headers = { accept: 'application/json', 'user-agent': 'crosswalk-admin' }
    const answer = await agent.request({ origin, path: pathname + search, method: 'GET', headers, signal })
    if (answer.statusCode !== 200) throw new Error(`${origin} answers ${pathname} with HTTP ${answer.statusCode}`)
    return await answer.body.text()
  } catch (error) {
    throw signal.aborted ? new Error(`${origin} does not answer within ${MOST.ms / 1000} s`) : error
  } finally {
    await agent.destroy()
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'its answer is not JSON'
  const { code } = error as { readonly code?: unknown }
  return code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' ? `an answer has more than ${MOST.bytes} bytes` : systemReason(error)
}
