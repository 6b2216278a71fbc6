import { z } from 'zod'
import { identify } from '../../../serve/caller.ts'
import type { RecordedRequest } from '../recorded-traffic.ts'

const header = z.object({ name: z.string(), value: z.string() })

/** A field of a form. Some archives write fields instead of the body's text. */
const field = z.object({ name: z.string(), value: z.string().default('') })

/** The parts of an entry that are read. Cookies, other headers and the contents of answers are ignored. */
const entry = z.object({
  startedDateTime: z.string().optional(),
  request: z.object({
    method: z.string(),
    url: z.string(),
    headers: z.array(header).default([]),
    postData: z.object({ text: z.string().optional(), params: z.array(field).optional() }).optional(),
  }),
  response: z
    .object({ status: z.number().optional().catch(undefined) })
    .optional()
    .catch(undefined),
})

const archive = z.object({ log: z.object({ entries: z.array(z.unknown()) }) })

/**
 * Reads the requests of an HTTP archive (HAR 1.2). It ignores their hosts, because v1's paths are the same at every address.
 * It keeps only the hash of a credential, which names the client as records do.
 */
export function readHar(text: string): { readonly items: readonly RecordedRequest[]; readonly unreadable: number } {
  const { log } = archive.parse(JSON.parse(text))
  const items = log.entries.flatMap(sentOf)
  return { items, unreadable: log.entries.length - items.length }
}

function sentOf(value: unknown): readonly RecordedRequest[] {
  const read = entry.safeParse(value)
  if (!read.success || !URL.canParse(read.data.request.url)) return []
  const { startedDateTime, request, response } = read.data
  const url = new URL(request.url)
  const at = Date.parse(startedDateTime ?? '')
  const headerOf = (wanted: string) => request.headers.find(({ name }) => name.toLowerCase() === wanted)?.value
  const [type, override] = [headerOf('content-type'), headerOf('x-http-method-override')]
  const body = request.postData && bodyOf(request.postData)
  return [
    {
      method: request.method.toUpperCase(),
      url: url.pathname + url.search,
      headers: {
        ...(type !== undefined && { 'content-type': type }),
        ...(override !== undefined && { 'x-http-method-override': override }),
      },
      client: identify(headerOf('authorization')).caller,
      ...(!Number.isNaN(at) && { at }),
      ...(body !== undefined && { body }),
      // Archives of requests without an answer have the status 0.
      ...(response?.status && { status: response.status }),
    },
  ]
}

function bodyOf({ text, params }: { readonly text?: string | undefined; readonly params?: readonly z.infer<typeof field>[] | undefined }) {
  if (text || !params?.length) return text
  return new URLSearchParams(params.map(({ name, value }): [string, string] => [name, value])).toString()
}
