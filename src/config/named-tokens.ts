import { z } from 'zod'
import { isObject } from '../tables/json.ts'
import type { SettingKind } from './kinds.ts'
import { secret } from './secret.ts'

export interface NamedToken {
  readonly name: string
  readonly token: string
}

/** The names of settings begin with `admin.`; a person's may not, so that notes cannot be misread. */
const NAME = /^(?!admin\.)[A-Za-z\d][\w.@+-]{0,63}$/

const MOST = 100
const ALLOWED = 'pairs NAME=TOKEN with commas between them, or an object {"NAME": "TOKEN"} in the file'

/**
 * Tokens with the names of those who hold them, such as `alice=@alice.token`. No problem quotes a name, because it may be a token in the
 * wrong place; the position of the pair is told instead.
 */
export const namedTokens: SettingKind<readonly NamedToken[]> = {
  secret: true,
  schema: z.unknown().transform((value, context) => {
    const read = readPairs(pairsOf(value))
    if (!('problem' in read)) return read.tokens
    context.addIssue({ code: 'custom', message: read.problem })
    return z.NEVER
  }),
  inFile: z.union([z.string(), z.record(z.string().regex(NAME), z.string())]),
  allowed: ALLOWED,
  value: 'NAME=TOKEN,…',
}

type Pair = readonly [name: string, token: unknown]

/** Returns undefined for what has no pairs. */
function pairsOf(value: unknown): readonly Pair[] | undefined {
  if (Array.isArray(value)) return value.map((one) => (isObject(one) ? [String(one.name), one.token] : ['', undefined]))
  if (isObject(value)) return Object.entries(value)
  if (typeof value !== 'string') return undefined
  return value.split(',').map((pair) => {
    const at = pair.indexOf('=')
    return [pair.slice(0, Math.max(at, 0)).trim(), at < 0 ? undefined : pair.slice(at + 1).trim()]
  })
}

function readPairs(pairs: readonly Pair[] | undefined): { readonly tokens: readonly NamedToken[] } | { readonly problem: string } {
  if (pairs === undefined || pairs.length > MOST) return { problem: `must be ${ALLOWED}, ${MOST} at most` }
  const tokens: NamedToken[] = []
  for (const [name, given] of pairs) {
    const place = `must be ${ALLOWED}; its pair ${tokens.length + 1}`
    const token = secret.schema.safeParse(given)
    if (!NAME.test(name)) return { problem: `${place} needs a name of letters, digits and ._@+-` }
    if (!token.success || token.data === undefined) return { problem: `${place} ${token.error?.issues[0]?.message}` }
    if (tokens.some((one) => one.name === name)) return { problem: `${place} has the name of an earlier one` }
    tokens.push({ name, token: token.data })
  }
  return { tokens }
}
