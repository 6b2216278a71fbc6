import { COMPARING } from '../../../serve/sides.ts'
import type { InForce } from '../../in-force.ts'
import { putModes } from '../../next-step/admin-command.ts'
import type { Report } from '../../report.ts'
import { many } from '../format.ts'
import { adminAddress } from '../live/ask-live.ts'
import { Paste } from './paste-text.tsx'

/** Says what to do if no operation was called. */
export function Empty({ report: { read, now } }: { readonly report: Report }) {
  const modes = now ? [now.rules.default, ...now.rules.rules.flatMap(({ mode, canary }) => [mode, canary?.mode ?? mode])] : []
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
      {now?.hasV1 && !modes.some((mode) => COMPARING.has(mode)) && <CompareAll now={now} />}
    </section>
  )
}

function CompareAll({ now: { rules, tag } }: { readonly now: InForce }) {
  const text = putModes(adminAddress(), { rules: { ...rules, default: 'diff-v1' }, tag })
  return <Paste name="The command that compares everything" text={text} />
}
