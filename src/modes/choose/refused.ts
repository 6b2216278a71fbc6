/** What a schema knows of a value that it refuses. */
interface Issue {
  readonly code?: string
  readonly input?: unknown
  readonly keys?: readonly string[]
}

/** Says what is wrong with a refused value: it is missing, it has a member too many, or what it must be. */
export const refused = (what: string) => ({
  error: ({ code, input, keys }: Issue) => {
    if (code === 'unrecognized_keys') return `has no member ${keys?.map((key) => JSON.stringify(key)).join(', ')}`
    return input === undefined ? 'is required' : what
  },
})
