import type { Report } from '../../report.ts'
import { many } from '../format.ts'
import { hasToken } from '../live.ts'

interface Props {
  readonly report: Report
  /** Where a running proxy returns the current report. A file has no such address. */
  readonly live: string | undefined
}

/** Says what to do if no operation was called. */
export function Empty({ report, live }: Props) {
  // A proxy that serves this page is the one to ask. A file does not know its proxy.
  const admin = live === undefined ? 'http://127.0.0.1:8081' : location.origin
  const token = live !== undefined && hasToken() ? ' -H "Authorization: Bearer $TOKEN"' : ''
  return (
    <section class="empty">
      <h2>Nothing was recorded yet</h2>
      <p>
        {report.read.entries === 0 ? 'There is not one record. ' : `${many(report.read.entries, 'record')}, but none of traffic. `}
        Put operations into a diff mode, let clients do their work, and look again:
      </p>
      <pre>
        <code>{`curl -X PUT ${admin}/modes${token} -H 'Content-Type: application/json' -d '{"default":"diff-v1"}'`}</code>
      </pre>
    </section>
  )
}
