import type { ComponentChildren } from 'preact'
import type { RecordedSide } from '../../../diff/records/record.ts'
import type { ExampleReport } from '../../difference.ts'
import { CopyButton } from '../copy-button.tsx'
import { milliseconds, time } from '../format.ts'
import { jsonLines, type Line } from './json-lines.ts'

const CHECKS: Readonly<Record<ExampleReport['check'], string>> = {
  read: '',
  'after-write': ' (read after a write)',
  write: ' (a write, which only v2 was sent)',
}

/** Shows one example: the request, and each side's value at the place of the difference. Only mismatches can be made into tests. */
export function SideBySide({ example, isMismatch }: { readonly example: ExampleReport; readonly isMismatch: boolean }) {
  const { pointer, reason, v1Side, v2Side } = example
  const has = (side: 'v1' | 'v2') => Object.hasOwn(example, side)
  const [left, right] = jsonLines(example.v1, example.v2)
  return (
    <div class="example">
      <dl class="facts">
        <Fact name="Request" wide>
          <code>{example.shape}</code>
          {CHECKS[example.check]}
        </Fact>
        <Fact name="When">{time(example.at)} UTC</Fact>
        <Fact name="Client">
          <code>{example.subject ?? example.caller}</code>
        </Fact>
        <Fact name="Mode">{example.mode}</Fact>
        {pointer !== undefined && (
          <Fact name="Place">
            <code>{pointer === '' ? 'the whole answer' : pointer}</code>
          </Fact>
        )}
        {reason !== undefined && (
          <Fact name="Remark" wide>
            {reason}
          </Fact>
        )}
        {isMismatch && (
          <Fact name="As a test" wide>
            <code>crosswalk case {example.id}</code>{' '}
            <CopyButton text={`crosswalk case ${example.id}`} what="the command that prints the test" />
          </Fact>
        )}
      </dl>
      <div class="sides">
        {v1Side && <Answer name="v1" side={v1Side} lines={has('v1') ? left : undefined} sign="−" />}
        <Answer name="v2" side={v2Side} lines={has('v2') ? right : undefined} sign="+" />
      </div>
    </div>
  )
}

interface FactProps {
  readonly name: string
  readonly wide?: boolean
  readonly children: ComponentChildren
}

function Fact({ name, wide = false, children }: FactProps) {
  return (
    <div class={wide ? 'is-wide' : ''}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

interface AnswerProps {
  readonly name: 'v1' | 'v2'
  readonly side: RecordedSide
  readonly lines: readonly Line[] | undefined
  /** Marks a line that the other side does not have. */
  readonly sign: string
}

function Answer({ name, side, lines, sign }: AnswerProps) {
  return (
    <section class={`answer is-${name}`} aria-label={`${name} answered`}>
      <h3>
        {name} <span class="quiet">HTTP {side.status}</span>
        {side.code !== undefined && <span class="quiet"> code {side.code}</span>}
        {side.ms !== undefined && <span class="quiet"> {milliseconds(side.ms)}</span>}
      </h3>
      {lines ? (
        <pre>
          {lines.map(({ text, mark }, at) => (
            <span key={at} class={`line is-${mark}`}>
              <span class="sign" aria-hidden="true">
                {mark === 'same' ? ' ' : sign}
              </span>
              {text}
              {'\n'}
            </span>
          ))}
        </pre>
      ) : (
        <p class="nothing">nothing there</p>
      )}
    </section>
  )
}
