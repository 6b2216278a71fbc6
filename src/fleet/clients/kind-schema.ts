import { z } from 'zod'

const given = z.array(z.union([z.tuple([z.string()]), z.tuple([z.string(), z.string()])]))

/** The kind of a request as the store keeps it, without its shape. */
export const kindSchema = z.object({
  path: given,
  query: given,
  members: z.array(z.string()).optional(),
  unknown: z.number().optional(),
})
