import { createHmac } from 'node:crypto'

/** The headers that identify and sign one attempt (Standard Webhooks 1.0.0). */
export interface SignedHeaders {
  readonly 'webhook-id': string
  /** Seconds since 1970. */
  readonly 'webhook-timestamp': string
  /** `v1,` and the signature in base64; one for each secret, with spaces between them. */
  readonly 'webhook-signature': string
}

/** Signs an attempt. The time is that of the attempt, so that a receiver can refuse an old one that somebody sends again. */
export type SignAttempt = (id: string, body: string, nowMs: number) => SignedHeaders

/** The prefix of a symmetric secret. */
export const PREFIX = 'whsec_'

/** Signs with each of these secrets, so that a receiver which knows one of them can verify: `whsec_` and 24 to 64 bytes in base64. */
export function createSign(secrets: readonly string[]): SignAttempt {
  const keys = secrets.map((secret) => Buffer.from(secret.slice(PREFIX.length), 'base64'))
  return (id, body, nowMs) => {
    const seconds = String(Math.floor(nowMs / 1000))
    const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`)
    return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures.join(' ') }
  }
}
