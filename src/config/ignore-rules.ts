import { z } from 'zod'
import { PARAM_FORMS } from '../tables/query.ts'
import { DIFFERENCE_KINDS, type IgnoreRule } from '../tables/signs.ts'
import type { SettingKind } from './kinds.ts'

const WRONG_TEXTS = 'must be a text or a list of texts'
const texts = z.union([z.string().min(1, WRONG_TEXTS), z.array(z.string().min(1, WRONG_TEXTS)).min(1, WRONG_TEXTS)], { error: WRONG_TEXTS })

const values = z.union([z.enum(PARAM_FORMS), z.array(z.string()).min(1)], {
  error: `must be a list of texts, or one of ${PARAM_FORMS.join(', ')}`,
})

const WRONG_PLACE = 'must be a JSON Pointer in table names such as /items/*/readme, or "" for the status'

const rule = z.strictObject({
  name: z
    .string({ error: 'must be a text' })
    .regex(/^[a-z0-9-]+$/, 'must have small letters, digits and hyphens only')
    .optional(),
  operations: texts,
  at: z.string({ error: WRONG_PLACE }).regex(/^(?:\/(?:[^~/]|~[01])+)*$/, WRONG_PLACE),
  kinds: z
    .array(z.enum(DIFFERENCE_KINDS, { error: `must be one of ${DIFFERENCE_KINDS.join(', ')}` }), { error: 'must be a list' })
    .min(1)
    .optional(),
  when: z.array(z.strictObject({ param: texts, is: values.optional(), isNot: values.optional() }), { error: 'must be a list' }).optional(),
  v1: z.unknown().optional(),
  v2: z.unknown().optional(),
  reason: z
    .string({ error: 'must say why clients can accept the difference' })
    .trim()
    .min(1, 'must say why clients can accept the difference'),
  until: z
    .union([z.iso.date(), z.iso.datetime({ offset: true })], { error: 'must be a date such as 2027-03-01 or 2027-03-01T12:00:00Z' })
    .transform((text) => Date.parse(text)),
})

/** Rules of differences to ignore: a list, or its JSON as a flag and the environment give it. */
export const ignoreRules: SettingKind<readonly IgnoreRule[]> = {
  schema: z.preprocess(asList, z.array(rule)) as unknown as z.ZodType<readonly IgnoreRule[]>,
  allowed: 'a list of objects {"operations", "at", "kinds", "when", "v1", "v2", "name", "reason", "until"}',
  written: (rules) => rules.map((one) => ({ ...one, until: new Date(one.until).toISOString() })),
  value: 'JSON',
}

function asList(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
