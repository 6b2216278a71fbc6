const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/

/** Parses an RFC 3339 time with any offset (facts §19) to milliseconds since the epoch. Undefined if the text is not one. */
export const parseTimestamp = (text: string): number | undefined => {
  const milliseconds = RFC3339.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN
  return Number.isNaN(milliseconds) ? undefined : milliseconds
}

/** Formats milliseconds since the epoch as the service does: RFC 3339, UTC, milliseconds (specification §2). */
export const formatTimestamp = (milliseconds: number): string => new Date(milliseconds).toISOString()
