import { type CutoverQuestion, type CutoverScope, inScope, judgeCutover, rolloutSentences, TARGET } from '../../migrate/evidence/cutover.ts'
import { joinReplicas } from '../../migrate/evidence/replicas.ts'
import { withV1Values } from '../../tables/operation.ts'
import { operationsOf } from '../../tables/tables.ts'
import { adminFlags } from '../admin-port.ts'
import { type AskedReplica, askReplicas, missingIn, onePerFleet } from '../ask-replicas.ts'
import { type Command, endWith, FAILED, type Flags, MISUSED, textOf, UNREAD } from '../command.ts'
import { tablesFlag } from '../config-flags.ts'
import { scopeFlags, scopeOf, unfitClients, unfitOperations } from '../cutover-scope-flags.ts'
import { assumptionsOf, type CutoverAnswer, cutoverLines } from '../cutover-text.ts'

/** Tells whether traffic may move to v2: the question of each step of a migration, and with `--without-v1` the one that ends it. */
export const cutover: Command = {
  usage: 'cutover',
  summary:
    'Exits with 0 if every operation that v2 can answer is proven at the target, 1 with the reasons if not, 3 if a proxy cannot be asked or a replica of it has not told all.',
  flags: {
    target: { help: `Acceptable share of wrong answers, more than 0 and less than 1. Default: ${TARGET}`, value: 'SHARE' },
    'without-v1': { help: 'Ask whether v1 can be switched off: what only v1 answers is then in the way', switch: true },
    ...scopeFlags,
    json: { help: 'Print one JSON object', switch: true },
    ...tablesFlag,
    ...adminFlags,
    admin: { ...adminFlags.admin, help: `${adminFlags.admin?.help}. May be repeated: replicas are judged together`, more: true },
  },
  async run(flags, _, io) {
    const target = targetOf(flags)
    const scope = scopeOf(flags)
    const operations = operationsOf(await io.tables())
    const unfit = unfitOperations(
      scope,
      withV1Values(operations).map(({ id }) => id),
    )
    if (target === undefined || unfit !== undefined)
      return endWith(
        io,
        MISUSED,
        unfit ?? `target is ${JSON.stringify(flags.target)} in the flag --target, but it must be a number between 0 and 1.`,
      )
    const asked = await askReplicas(flags, io)
    for (const { problem } of asked) if (problem !== undefined) io.err(problem)
    const answer = answerOf(asked, scope, { operations, target, withoutV1: flags['without-v1'] === true })
    if ('problem' in answer) return endWith(io, MISUSED, answer.problem)
    const isKnown = asked.some(({ replica }) => replica !== undefined)
    if (flags.json) io.text(JSON.stringify(answer, null, 2))
    else if (isKnown) for (const line of cutoverLines(answer)) io.out(line)
    if (answer.missing.length > 0 || asked.some(({ problem }) => problem !== undefined)) return UNREAD
    return answer.ready ? 0 : FAILED
  },
}

function targetOf(flags: Flags): number | undefined {
  const text = textOf(flags, 'target')
  const target = text === undefined ? TARGET : Number(text)
  return target > 0 && target < 1 ? target : undefined
}

function answerOf(
  asked: readonly AskedReplica[],
  scope: CutoverScope,
  asks: Pick<CutoverQuestion, 'operations' | 'target' | 'withoutV1'>,
): CutoverAnswer | { readonly problem: string } {
  const fleets = onePerFleet(asked)
  const missing = missingIn(asked)
  const known = joinReplicas(fleets.flatMap(({ replica }) => replica ?? []))
  const unfit = asked.every(({ replica }) => replica) ? unfitClients(scope, known.clients) : undefined
  if (unfit !== undefined) return { problem: unfit }
  const { strangers, ...seen } = inScope(known, scope)
  const verdict = judgeCutover({ ...seen, ...asks })
  const unasked = asked.flatMap(({ problem }) => problem ?? [])
  const inTheWay = verdict.operations.flatMap(({ blocks, reason }) => (blocks ? [reason] : []))
  return {
    ...verdict,
    ...(unasked.length + missing.length > 0 && { ready: false, reasons: [...unasked, ...missing, ...inTheWay] }),
    scope,
    asked: asked.map(({ admin, problem }) => ({ admin, ...(problem !== undefined && { problem }) })),
    strangers: Object.fromEntries(strangers),
    shared: known.shared,
    missing,
    rollouts: rolloutSentences(
      verdict.operations.map(({ operation }) => operation),
      known.rollouts,
    ),
    assumptions: assumptionsOf(scope, fleets, known),
  }
}
