import type { RelayedAnswer } from '../stage/relay.ts'

/** One way to spoil an answer of v2. */
export interface Mutation {
  /** What is done and where: `lost /repos/0`. */
  readonly name: string
  /** Every client takes the spoiled answer for the same one: another spelling of a time, for example. It is tried, but not scored. */
  readonly respells?: true
  readonly apply: (answer: RelayedAnswer) => RelayedAnswer
}

/** Returns an answer with another body. */
export function withBody(answer: RelayedAnswer, value: unknown): RelayedAnswer {
  return { ...answer, body: Buffer.from(JSON.stringify(value)) }
}
