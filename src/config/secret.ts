import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { SettingKind } from './kinds.ts'

/** The characters of a bearer token (RFC 6750 §2.1), and enough of them to rule out guessing. `@` is not among them. */
const TOKEN = /^(?=.{16,4096}$)[A-Za-z\d._~+/-]+=*$/
const ALLOWED = 'a token of 16 or more letters, digits or ._~+/-, or @ and the path of a file that holds it'

/** A token that clients must send. It is never printed. Put it in a file or the environment: `ps` shows flags. */
export const secret: SettingKind<string | undefined> = {
  secret: true,
  schema: z.string({ error: `must be ${ALLOWED}` }).transform((text, context) => {
    const token = text.startsWith('@') ? contentOf(text.slice(1)) : text
    if (token !== undefined && TOKEN.test(token)) return token
    context.addIssue({ code: 'custom', message: token === undefined ? 'names a file that cannot be read' : `must be ${ALLOWED}` })
    return z.NEVER
  }),
  allowed: ALLOWED,
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}
