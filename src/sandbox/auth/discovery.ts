import { createRemoteJWKSet, type JWTVerifyGetKey } from 'jose'
import { permissionDenied } from '../status.ts'

const LOOPBACK = /^https?:\/\/(127(?:\.\d{1,3}){3}|localhost|\[::1\])(:\d+)?(\/|$)/

/** Discovery contacts this machine only: the sandbox must not become a way to reach other hosts. */
const isLoopback = (url: string): boolean => LOOPBACK.test(url)

const DISCOVERY_TIMEOUT_MS = 5_000

const readConfiguration = async (issuer: string): Promise<unknown> => {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(DISCOVERY_TIMEOUT_MS) })
  return response.json()
}

/**
 * Discovers the keys of a third-party issuer by OIDC from its URL. PERMISSION_DENIED if the issuer or its key set does not answer or is not
 * on a loopback address.
 */
export const discoverKeys = async (issuer: string): Promise<JWTVerifyGetKey> => {
  if (!isLoopback(issuer))
    return permissionDenied(`verifying token: issuer ${issuer} is not on this machine; store its keys as static_keys`)
  const configuration = await readConfiguration(issuer).catch(() => permissionDenied(`verifying token: issuer ${issuer} does not answer`))
  const { jwks_uri: keysUrl } = configuration as { readonly jwks_uri?: unknown }
  if (typeof keysUrl !== 'string' || !isLoopback(keysUrl))
    return permissionDenied(`verifying token: issuer ${issuer} names no usable jwks_uri`)
  return createRemoteJWKSet(new URL(keysUrl))
}
