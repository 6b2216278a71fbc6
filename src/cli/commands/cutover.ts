import { mappings } from '../../../mappings/index.ts'
import { type CutoverVerdict, judgeCutover, TARGET } from '../../diff/evidence/cutover.ts'
import type { EvidenceReport } from '../../modes/migration-report.ts'
import { adminFlags, askAdmin } from '../admin-port.ts'
import { type Command, FAILED, type Flags, MISUSED, textOf } from '../command.ts'

/** Tells whether all traffic may move to v2: the question that ends a migration. */
export const cutover: Command = {
  usage: 'cutover',
  summary: 'Exits with 0 if every operation with traffic is proven at the target, else with 1 and the reasons.',
  flags: {
    target: { help: `Acceptable share of wrong answers, more than 0 and less than 1. Default: ${TARGET}` },
    json: { help: 'Print one JSON object', switch: true },
    ...adminFlags,
  },
  async run(flags, _, io) {
    const target = targetOf(flags)
    if (target === undefined) {
      io.err(`target is ${JSON.stringify(flags.target)} in the flag --target, but it must be a number between 0 and 1.`)
      return MISUSED
    }
    const report = await askAdmin<EvidenceReport>('/evidence', flags, io)
    if ('problem' in report) {
      io.err(report.problem)
      return FAILED
    }
    const verdict = judgeCutover({ ...questionOf(report), target })
    if (flags.json) io.text(JSON.stringify(verdict, null, 2))
    else for (const line of [...linesOf(verdict), ...notCounted(report)]) io.out(line)
    return verdict.ready ? 0 : FAILED
  },
}

function targetOf(flags: Flags): number | undefined {
  const text = textOf(flags, 'target')
  const target = text === undefined ? TARGET : Number(text)
  return target > 0 && target < 1 ? target : undefined
}

function questionOf({ operations: evidence, traffic }: EvidenceReport) {
  const operations = mappings.flatMap((mapping) => mapping.operations)
  return { evidence, traffic: new Map(Object.entries(traffic)), operations }
}

/** Requests that no service accepted prove nothing. The person who decides should still know their number. */
function notCounted({ strangers }: EvidenceReport): readonly string[] {
  const requests = Object.values(strangers).reduce((sum, count) => sum + count, 0)
  return requests === 0 ? [] : [`Not counted: ${requests} requests of strangers to ${Object.keys(strangers).length} operations.`]
}

function linesOf({ ready, reasons, operations }: CutoverVerdict): readonly string[] {
  const inside = operations.filter(({ standing }) => standing === 'inside').map(({ reason }) => `  ok   ${reason}`)
  if (ready) return [...inside, ...reasons]
  return [...inside, ...reasons.map((reason) => `  no   ${reason}`), `Not ready: ${reasons.length} in the way.`]
}
