import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { SettingKind } from './kinds.ts'

/** The characters of a bearer token (RFC 6750 §2.1), and enough of them to rule out guessing. `@` is not among them. */
const TOKEN = /^(?=.{16,4096}$)[A-Za-z\d._~+/-]+=*$/
const ALLOWED = 'a token of 16 or more letters, digits or ._~+/-, or @ and the path of a file that holds it'

/** A token that clients must send. It is never printed. Put it in a file or the environment: `ps` shows flags. */
export const secret: SettingKind<string | undefined> = {
  secret: true,
  schema: fromFile(ALLOWED, (token) => TOKEN.test(token)),
  allowed: ALLOWED,
  value: 'TOKEN',
}

/** Reads a text, or the file that it names after `@`. Its issues never quote the text. */
export function fromFile(allowed: string, isRight: (text: string) => boolean): z.ZodType<string> {
  return z.string({ error: `must be ${allowed}` }).transform((given, context) => {
    const text = given.startsWith('@') ? contentOf(given.slice(1)) : given
    if (text !== undefined && isRight(text)) return text
    context.addIssue({ code: 'custom', message: text === undefined ? 'names a file that cannot be read' : `must be ${allowed}` })
    return z.NEVER
  })
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}
