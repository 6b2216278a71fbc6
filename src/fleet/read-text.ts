import type { z } from 'zod'

/** Reads what a replica wrote as JSON; undefined if another version of Crosswalk wrote it in another form. */
export function readText<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
