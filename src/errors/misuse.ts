/** Returns an error that ends a command with exit code 2 and the sentence: what the command was given makes no sense. */
export function misuse(sentence: string): Error {
  return Object.assign(new Error(sentence), { isMisuse: true })
}

/** Tells whether a command was given what makes no sense. */
export function isMisuse(error: unknown): error is Error {
  return error instanceof Error && 'isMisuse' in error && error.isMisuse === true
}
