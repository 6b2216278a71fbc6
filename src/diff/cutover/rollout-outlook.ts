/** What a verdict needs to know of a rollout. */
export interface RolloutOutlook {
  readonly name: string
  /** Ids of the operations that its rule decides about. */
  readonly reach: readonly string[]
  readonly phase: string
  /** Share of the callers in force, 0–100. */
  readonly percent: number
  /** Why it is in this phase, in one sentence. */
  readonly reason: string
}

/** Says why a rollout of the operation turned back, if one did: v2 was wrong for its first clients. */
export function turnedBackReason(operation: string, rollouts: readonly RolloutOutlook[]): string | undefined {
  const back = rollouts.find(({ phase, reach }) => phase === 'turned-back' && reach.includes(operation))
  return back && `rollout ${back.name} turned back. ${ended(back.reason)}`
}

/** Returns a sentence for each rollout of these operations that is not done. One that turned back is in the way instead. */
export function rolloutSentences(operations: readonly string[], rollouts: readonly RolloutOutlook[]): readonly string[] {
  const open = rollouts.filter(({ phase, reach }) => {
    return phase !== 'done' && phase !== 'turned-back' && operations.some((operation) => reach.includes(operation))
  })
  const sentences = open.map(({ name, phase, percent, reason }) => `Rollout ${name} is ${phase} at ${percent} %: ${ended(reason)}`)
  return [...new Set(sentences)].sort()
}

function ended(sentence: string): string {
  return sentence.endsWith('.') ? sentence : `${sentence}.`
}
