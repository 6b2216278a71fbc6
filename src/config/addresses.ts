import { isIP } from 'node:net'
import { z } from 'zod'
import type { Kind } from './kinds.ts'

/** Addresses and networks as one text with commas between them; the file may give an array. */
export const addresses: Kind<string | undefined> = {
  schema: z.preprocess(
    (value) => (Array.isArray(value) ? value.join(',') : value),
    z
      .string()
      .transform(listOf)
      .refine((parts) => parts.every(isNetwork))
      .transform((parts) => parts.join(',')),
  ) as z.ZodType<string>,
  allowed: 'addresses or networks with commas between them, such as 10.0.0.0/8,::1',
}

/** The parts of such a text; none when there is no text. */
export function listOf(text: string | undefined): readonly string[] {
  return text?.split(',').map((part) => part.trim()) ?? []
}

const WIDTHS: Readonly<Record<number, number>> = { 4: 32, 6: 128 }

/** `192.0.2.1`, `::1`, `10.0.0.0/8`. */
function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const width = WIDTHS[isIP(address)]
  if (width === undefined || rest.length > 0 || address.includes('%')) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= width)
}
