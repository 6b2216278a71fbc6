import type { Operation } from '../../tables/operation.ts'
import type { AskedRequest } from '../judge/asked-request.ts'
import type { Judgement } from '../judge/judge.ts'
import type { Comparison, Example } from '../records/record.ts'
import { shownFindings } from '../records/record-of.ts'
import type { Redacted } from '../redact/redacted.ts'
import { sentRequest } from '../redact/sent-request.ts'
import { answersOf, excerptOf } from './excerpt-of.ts'

/** Most characters of all excerpts in one record. */
export const MOST = 8 * 1024

/**
 * Adds what people need to look at a difference: the request, and the JSON around each example. A match gets nothing, because this costs
 * time and space.
 */
export function detailed(comparison: Comparison, judgement: Judgement, { asked, about, redacted }: DetailSources): Comparison {
  if (comparison.outcome === 'match') return comparison
  const own = redacted(about)
  const answers = judgement.answers && answersOf(judgement.answers, own)
  const examples = withSurroundings(comparison, judgement, own)
  return { ...comparison, request: sentRequest(asked, redacted(asked.operation)), examples, ...(answers && { answers }) }
}

interface DetailSources {
  readonly asked: AskedRequest
  /** The operation whose answers were compared. */
  readonly about: Operation
  readonly redacted: (operation: Operation) => Redacted
}

function withSurroundings({ examples }: Comparison, judgement: Judgement, redacted: Redacted): readonly Example[] {
  const findings = shownFindings(judgement)
  let left = MOST
  return examples.map((example, nth) => {
    const finding = findings[nth]
    const around = finding && left > 0 ? excerptOf(finding, redacted) : undefined
    left -= around ? JSON.stringify(around).length : 0
    return around && left >= 0 ? { ...example, around } : example
  })
}
