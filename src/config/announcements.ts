import { z } from 'zod'
import type { SettingKind } from './kinds.ts'

/** A moment in whole seconds since the epoch. It is read from a date (its first second in UTC) or from a date with a time. */
export const moment: SettingKind<number | undefined> = {
  schema: z.union([z.iso.date(), z.iso.datetime({ offset: true })]).transform((text) => Math.floor(Date.parse(text) / 1000)),
  allowed: 'a date such as 2027-03-01 or 2027-03-01T12:00:00Z',
  written: (seconds) => new Date(1000 * seconds).toISOString(),
  value: 'DATE',
}

/** An address for a `Link` header, encoded so that it can end neither the header nor the link. */
export const link: SettingKind<string | undefined> = {
  schema: z
    .string()
    .refine(isLink)
    .transform((text) => new URL(text).href),
  allowed: 'an address such as https://docs.example.com/v2, without credentials',
  value: 'URL',
}

function isLink(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && username + password === ''
}
