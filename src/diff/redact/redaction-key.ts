import { randomBytes } from 'node:crypto'

/** The key of the hashes of masked texts. It is random for each process, until a fleet gives all of its replicas the same one. */
export interface RedactionKey {
  text(): string
  share(text: string): void
}

export function createRedactionKey(): RedactionKey {
  let key = randomBytes(32).toString('hex')
  return {
    text: () => key,
    share(text) {
      key = text
    },
  }
}
