import { nextStep } from '../../next-step/next-step.ts'
import { adminAddress } from '../live/ask-live.ts'
import { OperationBack } from '../now/back-to-v1.tsx'
import type { OperationProps } from './differences.tsx'
import { Paste, PasteList } from './paste-text.tsx'

/** Says what to do next about an operation, and prints the commands for it. The page runs none of them; with a token it can go back. */
export function NextStepView({ operation, report }: OperationProps) {
  const { sentence, commands } = nextStep(operation, report, adminAddress())
  const [first, ...others] = commands
  return (
    <section class="next" aria-labelledby="next">
      <h2 id="next">Next step</h2>
      <p>{sentence}</p>
      {first && (
        <>
          <h3>{first.title}</h3>
          <Paste name={first.title} text={first.text} />
        </>
      )}
      <PasteList texts={others} />
      {report.now && <OperationBack operation={operation.operation} now={report.now} />}
    </section>
  )
}
