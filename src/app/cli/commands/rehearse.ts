import { setTimeout as wait } from 'node:timers/promises'
import { misuse } from '../../../errors.ts'
import type { Client, RequestKind } from '../../../migrate/clients.ts'
import { judgeCutover, TARGET } from '../../../migrate/evidence/cutover.ts'
import { count, many, noEvidence } from '../../../migrate/evidence/evidence.ts'
import { askedOf, missingKinds } from '../../../migrate/evidence/kinds.ts'
import { joinReplicas } from '../../../migrate/evidence/replicas.ts'
import { shapeOf } from '../../../migrate/evidence/standing.ts'
import { USUAL_TERMS } from '../../../migrate/evidence/terms.ts'
import { pageTokenOf } from '../../../migrate/modes/select.ts'
import type { Rehearsed } from '../../../migrate/observe/observer.ts'
import { oneLine } from '../../../tables/json.ts'
import type { Operation } from '../../../tables/operation.ts'
import { operationsOf, type Tables } from '../../../tables/tables.ts'
import { sampleRequest, v1Text } from '../../../tools/guide-request.ts'
import { createRouteRecorded } from '../../../tools/replay/replay.ts'
import type { Traffic } from '../../../tools/replay/traffic.ts'
import { type AskedReplica, adminFlags, askClients, askReplicas, orderAdmin } from '../admin-port.ts'
import { type Command, endWith, FAILED, print, textOf } from '../command.ts'
import { tablesFlag } from '../flags.ts'
import { withProgress } from '../terminal.ts'
import { boundFlags, boundsOf, formatFlags, givenTraffic, NO_TOKEN } from './replay.ts'

/** A read to rehearse, and how often. */
interface Play {
  readonly operation: string
  readonly kind: string
  readonly shape: string
  readonly times: number
  /** Different requests of the kind, as far as they are known. */
  readonly urls: string[]
}

/** Different requests of one kind that are played. */
const MOST_URLS = 3

/** Has the reads asked that the verdict of a running proxy lacks. No write is ever sent. */
export const rehearse: Command = {
  usage: 'rehearse [FILE]',
  summary:
    'Has a running proxy ask both sides for the reads that cutover lacks, with the token in $TOKEN: those that it remembers, or those of a log.',
  optional: ['FILE'],
  flags: {
    'dry-run': { help: 'Print the reads, and send none', switch: true },
    ...boundFlags,
    json: { help: 'Print one JSON object', switch: true },
    ...formatFlags,
    ...tablesFlag,
    ...adminFlags,
  },
  async run(flags, [file], io) {
    const bounds = boundsOf(flags)
    const { TOKEN: token } = io.env
    if (!token && !flags['dry-run']) throw misuse(NO_TOKEN)
    const traffic = file === undefined ? undefined : givenTraffic(file, flags, io)
    const tables = await io.tables()
    const admin = textOf(flags, 'admin')
    const reading = { ...flags, ...(admin !== undefined && { admin: [admin] }) }
    const [asked] = await askReplicas(reading, io)
    if (!asked?.replica) return endWith(io, FAILED, asked?.problem ?? '')
    const clients = await askClients(reading, io)
    const plays = missingReads(asked, clients, tables)
    if (traffic) await addRecorded(plays, await withProgress(io.screen, `reading ${oneLine(traffic.name)}`, traffic.open), tables)
    const unknown = plays.filter(({ urls }) => urls.length === 0)
    const chosen = plays.flatMap(({ urls, times }) =>
      Array.from(urls.length > 0 ? Array(times) : [], (_, nth) => urls[nth % urls.length] ?? ''),
    )
    const urls = chosen.slice(0, bounds.most)
    const post = (url: string) =>
      orderAdmin<Rehearsed>('/rehearsals', flags, io, { url, token }).catch((error: Error) => ({ problem: error.message }))
    const sent = flags['dry-run'] ? urls.map((url) => ({ url })) : await playAll(urls, bounds.perSecond, post)
    const told = {
      lacking: plays.length,
      sent,
      unknown: unknown.map(({ operation, kind }) => ({ operation, kind })),
      beyond: chosen.length - urls.length,
    }
    print(io, flags, told, () => rehearsalLines(told))
    return sent.every(isPlayedWell) && unknown.length + told.beyond === 0 ? 0 : FAILED
  },
}

/** A read that was sent; without an answer, it only would be. */
interface Sent extends Partial<Rehearsed> {
  readonly url: string
  readonly problem?: string
}

function isPlayedWell({ outcome, problem }: Sent): boolean {
  return problem === undefined && (outcome === undefined || ['match', 'expected', 'noise'].includes(outcome))
}

/** Sends one after the other, and ends with the first that the admin port refuses. */
async function playAll(
  urls: readonly string[],
  perSecond: number,
  post: (url: string) => Promise<Rehearsed | { readonly problem: string }>,
) {
  const sent: Sent[] = []
  const began = performance.now()
  for (const [nth, url] of urls.entries()) {
    const due = began + (1000 * nth) / perSecond - performance.now()
    if (due > 0) await wait(due)
    const answer = await post(url)
    sent.push({ url, ...answer })
    if ('problem' in answer) break
  }
  return sent
}

/** Returns the kinds of reads that are blind spots, with the requests that the proxy remembers of them. */
function missingReads({ replica, terms = USUAL_TERMS }: AskedReplica, clients: readonly Client[], tables: Tables): Play[] {
  const operations = operationsOf(tables)
  const known = joinReplicas(replica ? [replica] : [])
  const verdict = judgeCutover({ ...known, operations, target: TARGET, withoutV1: false, terms: { ...terms, now: Date.now() } })
  const asked = askedOf(known.clients)
  return verdict.operations.flatMap(({ operation: id, canRehearse, evidence }) => {
    const operation = operations.find((one) => one.id === id)
    if (!canRehearse || !operation) return []
    const missing = missingKinds(evidence ?? noEvidence(id), asked.get(id), terms.each)
    const requests = clients.flatMap(({ operations: uses }) => uses.find((use) => use.operation === id)?.requests ?? [])
    return missing.map(({ kind, same }) => {
      const shape = kind === '' ? id : `${id}?${kind}`
      const urls = requests.flatMap((request) => (request.shape === shape ? (urlOf(operation, request) ?? []) : []))
      return { operation: id, kind, shape, times: Math.max(1, terms.each - same), urls: [...new Set(urls)].slice(0, MOST_URLS) }
    })
  })
}

/** Returns the URL of a request of which every value was kept. */
function urlOf(operation: Operation, { path, query, members, unknown }: RequestKind): string | undefined {
  const isWhole = [...path, ...query].every(([, value]) => value !== undefined) && members === undefined && unknown === undefined
  return isWhole ? v1Text(operation, sampleRequest(operation, { path, query })).slice('GET '.length) : undefined
}

/** Adds the requests of recorded traffic to the kinds that lack them. */
async function addRecorded(plays: readonly Play[], { items }: Traffic, { mappings }: Tables): Promise<void> {
  const placeOf = createRouteRecorded(mappings)
  const byShape = new Map(plays.map((one) => [one.shape, one]))
  for await (const item of items) {
    const place = 'url' in item && item.method === 'GET' ? placeOf(item) : undefined
    if (place?.kind !== 'operation' || !('url' in item) || pageTokenOf(place.operation, item.url) !== undefined) continue
    const urls = byShape.get(shapeOf(place.operation, place.request))?.urls
    if (urls && urls.length < MOST_URLS && !urls.includes(item.url)) urls.push(item.url)
  }
}

interface Rehearsal {
  /** Kinds of reads that the verdict lacks. */
  readonly lacking: number
  readonly sent: readonly Sent[]
  /** Kinds of which no request is known with all its values. */
  readonly unknown: readonly { readonly operation: string; readonly kind: string }[]
  /** Reads beyond the maximum. */
  readonly beyond: number
}

function rehearsalLines({ lacking, sent, unknown, beyond }: Rehearsal): readonly string[] {
  if (lacking === 0) return ['No read is missing: nothing was sent.']
  const isDry = sent.length > 0 && sent.every(({ outcome, problem }) => outcome === undefined && problem === undefined)
  const outcomes = sent.map(({ outcome = 'not sent' }) => outcome)
  const sums = [...new Set(outcomes)].map((one) => `${count(outcomes.filter((other) => other === one).length)} ${one}`).join(', ')
  const wrong = sent.filter((one) => !isPlayedWell(one))
  return [
    `${many(lacking, 'kind')} of reads lack${lacking === 1 ? 's' : ''} answers; ${many(sent.length, 'read')}${isDry ? ' to send' : sums && `: ${sums}`}`,
    ...sent.flatMap(({ url, outcome }) => (outcome === undefined ? [`  ${url}`] : [])),
    ...wrong.map(({ url, outcome, problem, differences = [], reason = '', v1, v2 }) =>
      problem === undefined ? `${outcome}  ${url}  HTTP ${v1} and ${v2}  ${differences.join(', ') || reason}` : `${url}  ${problem}`,
    ),
    ...unknown.map(
      ({ operation, kind }) => `unknown  ${operation}${kind && `?${kind}`}: its values are not kept; give a log of its requests as FILE`,
    ),
    ...(beyond > 0 ? [`${many(beyond, 'further read')}: raise --max to send them`] : []),
    ...(isDry ? [] : ['crosswalk cutover says what that changed.']),
  ]
}
