import { ApiError } from './api-error.ts'

/** Seconds before a retry if no better value is known. */
export const RETRY_AFTER = 1

/** Refuses a request that exceeds a limit at the moment; `message` names the limit. */
export function askAgain(
  code: 'UNAVAILABLE' | 'RESOURCE_EXHAUSTED',
  message: string,
  { seconds = RETRY_AFTER, headers = {} }: { readonly seconds?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): ApiError {
  return new ApiError(code, `${message}; ask again later`, { headers: { ...headers, 'retry-after': String(seconds) } })
}
