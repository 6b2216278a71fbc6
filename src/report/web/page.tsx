import { useState } from 'preact/hooks'
import type { Report } from '../report.ts'
import { App } from './app.tsx'
import { useLive } from './live/use-live.ts'
import { Gate } from './views/gate.tsx'

interface Props {
  /** Null if a running proxy gives the report only with a token. */
  readonly first: Report | null
  /** Where a running proxy returns the current report. A file has no such address. */
  readonly address: string | undefined
}

/** Shows the report, or asks for the token first. */
export function Page({ first, address }: Props) {
  const [report, setReport] = useState(first)
  const live = useLive(address, report, setReport)
  if (report) return <App report={report} live={live} />
  return address === undefined ? null : <Gate address={address} onReport={setReport} />
}
