import { COMPARING } from '../../../modes/choose/mode.ts'
import type { Report } from '../../report.ts'
import { many } from '../format.ts'
import { hasToken } from '../live/ask-live.ts'

/** Says what to do if no operation was called. */
export function Empty({ report: { read, now } }: { readonly report: Report }) {
  const modes = now ? [now.rules.default, ...now.rules.rules.flatMap(({ mode, canary }) => [mode, canary?.mode ?? mode])] : []
  const token = hasToken() ? ' -H "Authorization: Bearer $ADMIN_TOKEN"' : ''
  return (
    <section class="empty">
      <h2>Nothing was recorded yet</h2>
      <p>
        {read.entries === 0 ? 'There is not one record. ' : `${many(read.entries, 'record')}, but none of traffic. `}
        {!now && 'Record traffic in a diff mode, and make the report of its records.'}
        {now && !now.hasV1 && 'There is no v1 service to compare with: set upstream.v1 (CROSSWALK_UPSTREAM_V1) and start again.'}
        {now?.hasV1 &&
          (modes.some((mode) => COMPARING.has(mode))
            ? `The default mode is ${now.rules.default}. Send v1 requests through the proxy; this page shows them within seconds.`
            : `The default mode is ${now.rules.default}, in which nothing is compared. Put operations into a diff mode:`)}
      </p>
      {now?.hasV1 && !modes.some((mode) => COMPARING.has(mode)) && (
        <pre>
          <code>{`curl -X PUT ${location.origin}/modes${token} -H 'Content-Type: application/json' -d '{"default":"diff-v1"}'`}</code>
        </pre>
      )}
    </section>
  )
}
