import { isIPv4 } from 'node:net'
import { z } from 'zod'
import type { SettingKind } from './kinds.ts'
import { fromFile } from './secret.ts'

const RECEIVER =
  'an address such as https://hooks.example.com/crosswalk without credentials, or @ and the path of a file that holds it; http:// is for this machine only'

/** The address of a receiver. It is never printed, because its path or query may hold a token. */
export const receiver: SettingKind<string | undefined> = {
  secret: true,
  schema: fromFile(RECEIVER, isReceiver),
  allowed: RECEIVER,
  value: 'URL',
}

const SIGNING = 'whsec_ and 24 to 64 random bytes in base64, several with commas between them, or @ and the path of a file that holds them'

/** Symmetric secrets of Standard Webhooks, with commas between them. */
export const signingSecrets: SettingKind<string | undefined> = {
  secret: true,
  schema: z.preprocess(
    (value) => (Array.isArray(value) ? value.join(',') : value),
    fromFile(SIGNING, (text) => secretsIn(text).every(isSigningSecret)),
  ) as z.ZodType<string>,
  inFile: z.union([z.string(), z.array(z.string())]),
  allowed: SIGNING,
  value: 'SECRET',
}

/** Splits such a text: a file may hold one secret a line. */
export function secretsIn(text: string): readonly string[] {
  return text.split(/[\s,]+/)
}

const IDENTITY = 'an absolute URI such as https://crosswalk.example.com or urn:crosswalk:eu'

/** The `source` of events. */
export const identity: SettingKind<string | undefined> = { schema: z.string().refine(isUri), allowed: IDENTITY, value: 'URI' }

function isReceiver(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password, hash } = new URL(text)
  if (username + password + hash !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isThisMachine(hostname))
}

function isThisMachine(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || (isIPv4(name) && name.startsWith('127.'))
}

function isSigningSecret(text: string): boolean {
  const [, base64] = /^whsec_([A-Za-z\d+/]+={0,2})$/.exec(text) ?? []
  const key = Buffer.from(base64 ?? '', 'base64')
  return key.length >= 24 && key.length <= 64 && key.toString('base64') === base64
}

function isUri(text: string): boolean {
  return /^[a-z][a-z\d+.-]*:[\w.~:/?#[\]@!$&'()*+,;=%-]+$/i.test(text) && URL.canParse(text)
}
