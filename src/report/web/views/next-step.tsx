import type { PasteText } from '../../next-step/commands.ts'
import { nextStep } from '../../next-step/next-step.ts'
import { CopyButton } from '../copy-button.tsx'
import { adminAddress } from '../live/ask-live.ts'
import { OperationBack } from '../now/back-to-v1.tsx'
import type { OperationProps } from './differences.tsx'

/** Says what to do next about an operation, and prints the commands for it. The page runs none of them; with a token it can go back. */
export function NextStepView({ operation, report }: OperationProps) {
  const { sentence, commands } = nextStep(operation, report, adminAddress())
  const [first, ...others] = commands
  return (
    <section class="next" aria-labelledby="next">
      <h2 id="next">Next step</h2>
      <p>{sentence}</p>
      {first && <Paste one={first} />}
      {others.map((one) => (
        <details key={one.title}>
          <summary>{one.title}</summary>
          <Paste one={one} isNamed />
        </details>
      ))}
      {report.now && <OperationBack operation={operation.operation} now={report.now} />}
    </section>
  )
}

function Paste({ one: { title, text }, isNamed = false }: { readonly one: PasteText; readonly isNamed?: boolean }) {
  return (
    <div class="paste">
      {!isNamed && <h3>{title}</h3>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line scrolls, and the keyboard must reach it */}
      <section class="paste-text" tabIndex={0} aria-label={title}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
      <CopyButton text={text} what={`the text: ${title}`} />
    </div>
  )
}
