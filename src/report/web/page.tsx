import { useState } from 'preact/hooks'
import type { Report } from '../report.ts'
import { App } from './app.tsx'
import { Gate } from './views/gate.tsx'

interface Props {
  /** Null where a running proxy gives the report to nobody without a token. */
  readonly first: Report | null
  /** Where a running proxy answers this report anew; a file has no such address. */
  readonly live: string | undefined
}

/** The report, or what stands before it. */
export function Page({ first, live }: Props) {
  const [report, setReport] = useState(first)
  if (report) return <App report={report} live={live} onReport={setReport} />
  return live === undefined ? null : <Gate live={live} onReport={setReport} />
}
