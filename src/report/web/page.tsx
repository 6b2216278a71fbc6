import { useState } from 'preact/hooks'
import type { Report } from '../report.ts'
import { App } from './app.tsx'
import { Gate } from './views/gate.tsx'

interface Props {
  /** Null if a running proxy gives the report only with a token. */
  readonly first: Report | null
  /** Where a running proxy returns the current report. A file has no such address. */
  readonly live: string | undefined
}

/** Shows the report, or asks for the token first. */
export function Page({ first, live }: Props) {
  const [report, setReport] = useState(first)
  if (report) return <App report={report} live={live} onReport={setReport} />
  return live === undefined ? null : <Gate live={live} onReport={setReport} />
}
