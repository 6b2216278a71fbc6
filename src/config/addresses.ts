import { isIP } from 'node:net'
import { z } from 'zod'
import type { SettingKind } from './kinds.ts'

/** Accepts several addresses as one comma-separated text, or as an array in the file. */
const several = (isOne: (text: string) => boolean, allowed: string, value: string): SettingKind<string | undefined> => ({
  schema: z.preprocess(
    (value) => (Array.isArray(value) ? value.join(',') : value),
    z
      .string()
      .transform(listOf)
      .refine((parts) => parts.every(isOne))
      .transform((parts) => parts.join(',')),
  ) as z.ZodType<string>,
  inFile: z.union([z.string(), z.array(z.string())]),
  allowed,
  value,
})

export const addresses = several(isNetwork, 'addresses or networks with commas between them, such as 10.0.0.0/8,::1', 'ADDRESSES')

export const names = several(isName, 'host names with commas between them, without ports, such as crosswalk.internal', 'NAMES')

export const origins = several(isOrigin, 'origins with commas between them, such as https://console.example.com, or *', 'ORIGINS')

/** Splits such a text; undefined gives none. */
export function listOf(text: string | undefined): readonly string[] {
  return text?.split(',').map((part) => part.trim()) ?? []
}

function isName(text: string): boolean {
  return /^[a-z\d](?:[a-z\d.-]*[a-z\d])?$/i.test(text)
}

function isOrigin(text: string): boolean {
  return text === '*' || (/^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text)
}

const WIDTHS: Readonly<Record<number, number>> = { 4: 32, 6: 128 }

/** Accepts `192.0.2.1`, `::1`, `10.0.0.0/8`. */
function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const width = WIDTHS[isIP(address)]
  if (width === undefined || rest.length > 0 || address.includes('%')) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= width)
}
