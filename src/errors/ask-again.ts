import { ApiError } from './api-error.ts'

/** Seconds after which it is worth asking again, where nothing better is known. */
export const RETRY_AFTER = 1

/** The refusal of what a limit has no room for now; `message` says which. */
export function askAgain(
  code: 'UNAVAILABLE' | 'RESOURCE_EXHAUSTED',
  message: string,
  { seconds = RETRY_AFTER, headers = {} }: { readonly seconds?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): ApiError {
  return new ApiError(code, `${message}; ask again later`, { headers: { ...headers, 'retry-after': String(seconds) } })
}
