import { z } from 'zod'
import { readStoreUrl } from '../fleet/store/store.ts'
import type { SettingKind } from './kinds.ts'
import { fromFile } from './secret.ts'

const ALLOWED =
  'an address such as file:PATH, redis://HOST:PORT, rediss://HOST or redis+sentinel://HOST,HOST/NAME, with USER:PASSWORD@ before the host and /NUMBER of a database at its end if they are needed, or @ and the path of a file that holds it'

/** Where replicas share what they know. It may hold a password, so it is never printed. */
export const storeUrl: SettingKind<string | undefined> = {
  secret: true,
  schema: fromFile(ALLOWED, isStoreUrl),
  allowed: ALLOWED,
  value: 'URL',
}

function isStoreUrl(text: string): boolean {
  try {
    readStoreUrl(text)
    return true
  } catch {
    return false
  }
}

/** It becomes a part of each key in Redis, between braces. */
export const storeName: SettingKind<string> = {
  schema: z.string().regex(/^[A-Za-z\d._-]{1,64}$/, { error: 'must be 1 to 64 letters, digits or ._-' }),
  allowed: '1 to 64 letters, digits or ._-',
  value: 'NAME',
}

export const buildName: SettingKind<string | undefined> = {
  schema: z.string().regex(/^[\x21-\x7e]{1,100}$/, { error: 'must be 1 to 100 printable characters without a space' }),
  allowed: '1 to 100 printable characters without a space',
  value: 'NAME',
}
