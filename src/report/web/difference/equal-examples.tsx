import { type EqualExample, type ExampleReport, isOfRequest } from '../../difference.ts'
import { CopyButton } from '../copy-button.tsx'
import { count, many, milliseconds, time } from '../format.ts'
import { whenOf } from './example-list.tsx'

/** Most that are listed. */
const MOST = 100

/** Lists the comparisons that show the same as an example. Only mismatches can be made into tests. */
export function EqualExamples({ example, isMismatch }: { readonly example: ExampleReport; readonly isMismatch: boolean }) {
  const { equal = [] } = example
  if (equal.length === 0) return null
  const all: readonly EqualExample[] = [example, ...equal]
  const further = all.length - MOST
  return (
    <details class="equal">
      <summary>
        {many(all.length, 'equal comparison')} of this caller, {whenOf(example)}
      </summary>
      <ol>
        {all.slice(0, MOST).map((one) => (
          <li key={one.id}>
            <span>{time(one.at)}</span> <span>{one.mode}</span>
            <span class="quiet">{[latency('v1', one.v1Side?.ms), latency('v2', one.v2Side.ms)].filter(Boolean).join(', ')}</span>
            {one.request && one.request.url !== example.request?.url && <code>{one.request.url}</code>}
            {isMismatch && isOfRequest(one) && (
              <CopyButton text={`crosswalk case ${one.id}`} what={`the command for the test of ${time(one.at)}`} />
            )}
          </li>
        ))}
      </ol>
      {further > 0 && <p class="quiet">{count(further)} older ones are not listed.</p>}
    </details>
  )
}

function latency(side: 'v1' | 'v2', ms: number | undefined): string {
  return ms === undefined ? '' : `${side} ${milliseconds(ms)}`
}
