import type { ComponentChildren } from 'preact'
import { shellQuoted } from '../../../tables/check.ts'
import { type ExampleReport, isOfRequest } from '../../difference.ts'
import { CopyButton } from '../copy-button.tsx'
import { time } from '../format.ts'

const CHECKS: Readonly<Record<ExampleReport['check'], string>> = {
  read: '',
  'after-write': 'Both sides were asked this after a write: ',
  write: 'Only v2 was sent this write: ',
}

/** Shows where and when a comparison was made, and what to run to look closer. */
export function ExampleFacts({ example, isMismatch }: { readonly example: ExampleReport; readonly isMismatch: boolean }) {
  const { id, at, caller, subject, replica, mode, shape, check, request, pointer, row, reason } = example
  const url = request && `${request.method} ${request.url}`
  return (
    <dl class="facts">
      <Fact name="v1 request" wide copy={request?.url} what="the v1 URL">
        <span class="quiet">{CHECKS[check]}</span>
        <code>{url ?? shape}</code>
      </Fact>
      {url !== undefined && check === 'read' && isOfRequest(example) && !url.endsWith('…') && (
        <Fact name="Its v2 calls" wide copy={`crosswalk explain ${shellQuoted(url)}`} what="the command that explains it">
          <code>crosswalk explain {shellQuoted(url)}</code>
        </Fact>
      )}
      {isMismatch && isOfRequest(example) && (
        <Fact name="As a test" wide copy={`crosswalk case ${id}`} what="the command that prints the test">
          <code>crosswalk case {id}</code>
        </Fact>
      )}
      {row !== undefined && (
        <Fact name="Row id" wide copy={row} what="the id of the row">
          <code>{row}</code>
        </Fact>
      )}
      {pointer !== undefined && pointer !== '' && (
        <Fact name="Place">
          <code>{pointer}</code>
        </Fact>
      )}
      <Fact name="When">{time(at)} UTC</Fact>
      <Fact name="Client">
        <code>{subject ?? caller}</code>
      </Fact>
      <Fact name="Mode">{mode}</Fact>
      {replica !== undefined && (
        <Fact name="Replica">
          <code>{replica}</code>
        </Fact>
      )}
      {reason !== undefined && (
        <Fact name="Remark" wide>
          {reason}
        </Fact>
      )}
    </dl>
  )
}

interface FactProps {
  readonly name: string
  readonly wide?: boolean
  /** Text for the clipboard, and its name for screen readers. */
  readonly copy?: string | undefined
  readonly what?: string
  readonly children: ComponentChildren
}

function Fact({ name, wide = false, copy, what = '', children }: FactProps) {
  return (
    <div class={wide ? 'is-wide' : ''}>
      <dt>{name}</dt>
      <dd>
        {children} {copy !== undefined && <CopyButton text={copy} what={what} />}
      </dd>
    </div>
  )
}
