import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { ApiError, invalidArgument } from '../errors.ts'
import type { PutModes } from '../fleet/modes.ts'
import type { FleetEvidence } from '../fleet/report.ts'
import type { RolloutsPart } from '../fleet/rollouts/rollouts.ts'
import type { Migration, MigrationReport } from '../migrate/migration.ts'
import { keptSentence, type Modes, type ModesState, type OpenCircuit } from '../migrate/modes/modes.ts'
import { BESIDE_RULES } from '../migrate/modes/rules.ts'
import { pageTokenOf } from '../migrate/modes/select.ts'
import type { Rehearsed } from '../migrate/observe/observer.ts'
import { describeActor } from '../migrate/records/record.ts'
import type { RolloutStatus } from '../migrate/rollout/machine.ts'
import { ROLLOUT_COMMANDS } from '../migrate/rollout/run.ts'
import { createBucket } from '../serve/bounds.ts'
import { createClassify } from '../serve/classify.ts'
import { sendError } from '../serve/http/v1-surface.ts'
import { createRequest, identify } from '../serve/request.ts'
import { createRouter, isFound, routeRequest } from '../serve/route.ts'
import { isRead } from '../serve/sides.ts'
import { Firing } from '../serve/signals.ts'
import { suggestion } from '../tables/check.ts'
import { isObject } from '../tables/json.ts'
import { createOnlyV1 } from '../tables/operation.ts'
import type { Tables } from '../tables/tables.ts'
import { type OpenApiDocument, serverUrl } from '../tools/openapi.ts'
import type { ActorOf } from './admin.ts'
import { addReplicas, type FleetAnswers, hasTag, ifMatch, MALFORMED, putShared, type ReplicasSources, toldBy } from './fleet-routes.ts'
import { CONTENT_TYPES, type MetricsFormat } from './metrics-text.ts'
import type { Notifier } from './notify.ts'

const WRONG_URL = 'must be the path and the query of a v1 GET, of at most 8192 characters'
const WRONG_TOKEN = 'must be a bearer token of at most 8192 visible characters'

/** The first characters of a hash, as an entity tag. */
function tagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('hex').slice(0, 16)}"`
}

/** Adds the v1 contract as OpenAPI. Its text is made when somebody first asks, and again if `contract` returns another one. */
export function addContract(app: FastifyInstance, contract: (server: string) => OpenApiDocument, proxyUrl: () => string): void {
  let last: { readonly document?: OpenApiDocument; readonly text: string; readonly etag: string } = { text: '', etag: '' }
  app.get('/openapi.json', async ({ headers, hostname }, reply) => {
    const document = contract(serverUrl(proxyUrl(), hostname))
    if (last.document !== document) {
      const text = `${JSON.stringify(document, null, 2)}\n`
      last = { document, text, etag: tagOf(text) }
    }
    const { text, etag } = last
    reply.header('etag', etag)
    if (hasTag(headers['if-none-match'], etag)) return reply.code(304).send()
    return reply.type('application/json; charset=utf-8').send(text)
  })
}

export interface MetricsTexts {
  text(format: MetricsFormat): Promise<string>
}

/** `GET /metrics`: OpenMetrics for a scraper that asks for it, and the text format of Prometheus for everybody else. */
export function addMetrics(app: FastifyInstance, metrics: MetricsTexts): void {
  app.get('/metrics', async ({ headers }, reply) => {
    const format = metricsFormatOf(headers.accept ?? '')
    reply.type(CONTENT_TYPES[format])
    return metrics.text(format)
  })
}

/** Returns OpenMetrics if an `accept` header names its version 1.0.0 and likes it no less than plain text. `*` names nothing. */
export function metricsFormatOf(accept: string): MetricsFormat {
  const types = accept.split(',').map(mediaType)
  const likes = (fits: (one: MediaType) => boolean) => Math.max(0, ...types.filter(fits).map(({ quality }) => quality))
  const open = likes(({ type, version }) => type === 'application/openmetrics-text' && (version === undefined || version === '1.0.0'))
  return open > 0 && open >= likes(({ type }) => type === 'text/plain') ? 'openmetrics' : 'prometheus'
}

interface MediaType {
  readonly type: string
  readonly version: string | undefined
  readonly quality: number
}

function mediaType(text: string): MediaType {
  const [type = '', ...parts] = text.toLowerCase().split(';')
  const parameters = new Map(parts.map((part) => part.split('=', 2).map((word) => word.trim()) as [string, string]))
  return { type: type.trim(), version: parameters.get('version'), quality: Number(parameters.get('q') ?? 1) || 0 }
}

/** Adds the request that sends a test event. The answer comes before the event is sent: `/evidence` then says what became of it. */
function addNotify(app: FastifyInstance, { notifier }: MigrationSources): void {
  app.post('/notify/test', async (_, reply) => {
    if (!notifier) throw new ApiError('FAILED_PRECONDITION', 'no receiver is set: give notify.url (CROSSWALK_NOTIFY_URL) and start again')
    return reply.status(202).send({ id: notifier.ping() })
  })
}

/**
 * Adds `GET /rollouts` and `POST /rollouts/NAME/COMMAND`, which needs no body and answers with the new status. The entity tag of an answer
 * changes with the rules and whenever a rollout moves, so that a POST with `If-Match` does not promote what has moved on meanwhile.
 */
function addRollouts(app: FastifyInstance, { modes, actorOf, joined }: MigrationSources): void {
  const steer = joined?.steer ?? alone(modes)
  const tagNow = () => {
    const moves = modes.rollouts().map(({ name, phase, step, since }) => [name, phase, step, since])
    return tagOf(JSON.stringify([modes.state().tag, moves]))
  }
  app.get('/rollouts', async (_, reply) => {
    reply.header('etag', tagNow())
    return modes.rollouts()
  })
  for (const command of ROLLOUT_COMMANDS) {
    app.post<{ readonly Params: { readonly name: string } }>(`/rollouts/:name/${command}`, async (request, reply) => {
      const { name } = request.params
      findRollout(modes.rollouts(), name)
      const condition = ifMatch(request.headers['if-match'], tagNow())
      if (condition === 'malformed') throw MALFORMED
      const movedOn = (error: ApiError) => sendError(reply.header('etag', tagNow()), error, 412)
      if (condition === 'failed') return movedOn(MOVED_ON)
      const problem = await steer(name, command, actorOf(request))
      if (problem?.kind === 'moved') return movedOn(new ApiError('FAILED_PRECONDITION', problem.text))
      if (problem) throw new ApiError(problem.kind === 'down' ? 'UNAVAILABLE' : 'FAILED_PRECONDITION', problem.text)
      reply.header('etag', tagNow())
      return findRollout(modes.rollouts(), name)
    })
  }
  app.all<{ readonly Params: { readonly command: string } }>('/rollouts/:name/:command', async (request, reply) => {
    const { command } = request.params
    if (ROLLOUT_COMMANDS.some((one) => one === command)) return sendError(reply, NOT_POSTED, 405)
    const hint = suggestion(command, ROLLOUT_COMMANDS, `use ${ROLLOUT_COMMANDS.join(', ')}`)
    throw new ApiError('NOT_FOUND', `there is no rollout command ${JSON.stringify(command)}; ${hint}`)
  })
}

function alone(modes: Pick<Modes, 'steer'>): RolloutsPart['steer'] {
  return async (name, command, by) => {
    const text = modes.steer(name, command, by)
    return text === undefined ? undefined : { kind: 'senseless', text }
  }
}

/** google.rpc has no code for 412; the status says it. */
const MOVED_ON = new ApiError('FAILED_PRECONDITION', 'a rollout or the modes have moved on meanwhile; read GET /rollouts again')

/** Nor has it one for 405. v1's gateway answers with this code. */
const NOT_POSTED = new ApiError('UNIMPLEMENTED', 'a command is sent with POST', { headers: { allow: 'POST' } })

function findRollout(rollouts: readonly RolloutStatus[], name: string): RolloutStatus {
  const found = rollouts.find((one) => one.name === name)
  if (found) return found
  const names = rollouts.map((one) => one.name)
  const hint = names.length === 0 ? 'no rule has one' : suggestion(name, names, 'GET /rollouts lists them')
  throw new ApiError('NOT_FOUND', `there is no rollout ${JSON.stringify(name)}; ${hint}`)
}

/** Has one read asked of both sides with a bearer token, and counted as rehearsed. Rejects with an ApiError if it is no such read. */
type Rehearse = (url: string, token: string) => Promise<Rehearsed>

const rehearsalBody = z.strictObject(
  {
    /** Path and query of a v1 GET: `/iam/v1/groups?limit=10`. */
    url: z.string(WRONG_URL).max(8192, WRONG_URL),
    /** The bearer token to ask both sides with. It is kept nowhere. */
    token: z.string(WRONG_TOKEN).regex(/^[\x21-\x7e]{1,8192}$/, WRONG_TOKEN),
  },
  'must be an object {"url", "token"}',
)

const NO_V1 = new ApiError('FAILED_PRECONDITION', 'a read is rehearsed on both sides, and upstream.v1 is not set')

/** Rehearsed reads of one second: those who are served come first. */
const MOST_PER_SECOND = 20

const TOO_MANY = new ApiError('RESOURCE_EXHAUSTED', `more than ${MOST_PER_SECOND} reads a second are to be rehearsed; ask again later`)

const wrongUrl = (description: string) => invalidArgument({ field: 'url', description })

/**
 * Returns what has a read asked of both sides, with this token, and counted as rehearsed. It rejects with an ApiError that names what is
 * wrong with the URL: nothing but a GET that only reads is ever sent.
 */
export function rehearsalOf({ rehearse }: Pick<Migration, 'rehearse'>, { mappings }: Pick<Tables, 'mappings'>): Rehearse {
  const operations = mappings.flatMap((mapping) => mapping.operations)
  // The first rehearsal compiles them: most processes have none.
  const compile = () => ({ classify: createClassify(mappings), router: createRouter(operations), onlyV1: createOnlyV1(operations) })
  let compiled: ReturnType<typeof compile> | undefined
  const bucket = createBucket({ most: MOST_PER_SECOND, fillMs: 1000 }, () => performance.now())
  let last = 0
  return async (url, token) => {
    if (!rehearse) throw NO_V1
    if (!bucket.take()) throw TOO_MANY
    compiled ??= compile()
    const { classify, router, onlyV1 } = compiled
    const target = classify(url)
    if (target.kind === 'refused') throw target.error
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' }
    const routed = target.kind === 'v1' ? routeRequest(router, { method: 'GET', headers }, target.path) : undefined
    if (!routed || !isFound(routed)) throw wrongUrl('must be the path and the query of a v1 GET')
    last += 1
    const request = createRequest(routed, { id: `rehearsal-${last}`, method: 'GET', url, headers, body: undefined })
    const { operation, read } = request
    try {
      read()
    } catch {
      // Its own error quotes the query, and the log tells what was refused.
      throw wrongUrl('has a query that cannot be decoded')
    }
    if (!operation.begin || onlyV1(operation, () => read().query)) throw wrongUrl('is one that only v1 answers')
    if (!isRead(operation)) throw wrongUrl('is no read: a write gets its trials by a share')
    if (pageTokenOf(operation, url) !== undefined) throw wrongUrl('has a page token, which only one side knows')
    const signal = new Firing()
    return rehearse({ ...request, ...identify(headers.authorization), client: signal, signal }, signal)
  }
}

/** Adds `POST /rehearsals`, which answers with what the read showed. */
function addRehearsals(app: FastifyInstance, { rehearse }: MigrationSources): void {
  app.post('/rehearsals', async ({ body }) => {
    const read = rehearsalBody.safeParse(body)
    if (read.success) return rehearse(read.data.url, read.data.token)
    const said = read.error.issues.map(({ path, message }) => [path.join('.') || 'the body', message].join(' '))
    throw new ApiError('INVALID_ARGUMENT', said.join('; '))
  })
}

/** What became of the circuits that a POST names. */
export interface ClosedCircuits {
  readonly closed: readonly string[]
  /** Those that a rollout keeps, in sentences. */
  readonly kept: readonly string[]
}

/** An open circuit as `GET /circuits` shows it. */
export interface CircuitRow extends Omit<OpenCircuit, 'at'> {
  readonly openedAt: string
}

/** Adds `GET /circuits`, which are open, and the requests that close one or all. Replicas that share a store close it with this one. */
function addCircuits(app: FastifyInstance, { modes, actorOf }: MigrationSources): void {
  app.get('/circuits', async () => modes.circuits().map(({ at, ...row }): CircuitRow => ({ ...row, openedAt: new Date(at).toISOString() })))
  app.post('/circuits/close', async (request): Promise<ClosedCircuits> => {
    const closed = modes.closeCircuits(actorOf(request))
    return { closed, kept: modes.circuits().map(keptSentence) }
  })
  app.post<{ readonly Params: { readonly name: string } }>('/circuits/:name/close', async (request): Promise<ClosedCircuits> => {
    const problem = modes.closeCircuit(request.params.name, actorOf(request))
    if (problem !== undefined) throw new ApiError('FAILED_PRECONDITION', problem)
    return { closed: [request.params.name], kept: [] }
  })
}

/**
 * Adds `GET` and `PUT /modes`. The entity tag of an answer names the version of the rules in it. A PUT with `If-Match` changes nothing if
 * somebody else changed the rules meanwhile. Replicas that share the modes ask for it, and the answer names those that have the new ones.
 */
function addModes(app: FastifyInstance, { modes, report, warnings, page, actorOf, joined }: MigrationSources): void {
  const tagNow = () => `"${modes.state().tag}"`
  const answer = (reply: FastifyReply) => {
    const { rules, version, by, at, drift } = modes.state()
    reply.header('etag', tagNow())
    const rollouts = some('rollouts', modes.rollouts())
    const circuits = some('circuits', report.openCircuits())
    const changed = { at: new Date(at).toISOString(), by }
    const told = { ...some('warnings', warnings()), ...(drift !== undefined && { drift }), ...(page !== undefined && { page }) }
    return { ...rules, ...rollouts, ...circuits, ...told, version, changed }
  }
  app.get('/modes', async (_, reply) => answer(reply))
  app.put('/modes', async (request, reply) => {
    const condition = ifMatch(request.headers['if-match'], tagNow())
    if (condition === 'malformed') throw MALFORMED
    if (joined) {
      const rules = modes.check(rulesIn(request.body))
      if ('problem' in rules) throw new ApiError('INVALID_ARGUMENT', rules.problem)
      const overtaken = () => {
        reply.header('etag', tagNow())
        return changedBefore(modes.state())
      }
      const obedience = await putShared(request, reply, joined, rules, actorOf(request), overtaken)
      return obedience ? { ...answer(reply), ...obedience } : reply
    }
    if (condition === 'failed') return sendError(reply.header('etag', tagNow()), changedBefore(modes.state()), 412)
    const problem = modes.change(rulesIn(request.body), actorOf(request))
    if (problem !== undefined) throw new ApiError('INVALID_ARGUMENT', problem)
    return answer(reply)
  })
}

/** google.rpc has no code for 412; the status says it. */
function changedBefore({ version, by, at }: ModesState): ApiError {
  const when = new Date(at).toISOString()
  return new ApiError('FAILED_PRECONDITION', `the modes are at version ${version} since ${when} (${describeActor(by)}); read them again`)
}

function rulesIn(body: unknown): unknown {
  return isObject(body) ? Object.fromEntries(Object.entries(body).filter(([member]) => !BESIDE_RULES.has(member))) : body
}

/** Returns the member only if it holds something. */
function some(name: string, value: object): object {
  return Object.keys(value).length > 0 ? { [name]: value } : {}
}

export interface MigrationSources {
  readonly modes: Pick<Modes, 'state' | 'change' | 'check' | 'rollouts' | 'steer' | 'circuits' | 'closeCircuit' | 'closeCircuits'>
  /** What is wrong with the rules in force, in sentences. */
  readonly warnings: () => readonly string[]
  /** The address of the page, if people know the port by one. */
  readonly page?: string | undefined
  readonly actorOf: ActorOf
  readonly report: MigrationReport
  readonly rehearse: Rehearse
  /** Absent without `notify.url`. */
  readonly notifier: Pick<Notifier, 'counts' | 'ping'> | undefined
  /** The fleet, if replicas share a store. */
  readonly joined?:
    | (ReplicasSources & {
        readonly modes: PutModes
        readonly needsMatch: boolean
        readonly evidence: Pick<FleetEvidence, 'epochs' | 'counted'>
        readonly answers: FleetAnswers
        /** Gives a command that holds for all replicas. */
        readonly steer: RolloutsPart['steer']
      })
    | undefined
}

const comparisonsQuery = z.object({
  operation: z.string().min(1).optional(),
  limit: z.coerce.number({ error: 'must be a whole number from 1 to 10000' }).int().min(1).max(10_000).default(100),
})

/** Adds the admin endpoints of a migration: its modes, its rollouts and its report. */
export function addMigration(app: FastifyInstance, sources: MigrationSources): void {
  const { report, joined } = sources
  addModes(app, sources)
  addRollouts(app, sources)
  addCircuits(app, sources)
  if (joined) addReplicas(app, joined)
  addEvidence(app, sources)
  addNotify(app, sources)
  addRehearsals(app, sources)
  app.get('/clients', async (_, reply) => (joined ? toldBy(reply, await joined.answers.clients()) : report.clients()))
  app.get('/comparisons', async ({ query }, reply) => {
    const read = comparisonsQuery.safeParse(query)
    if (read.success) return joined ? toldBy(reply, await joined.answers.comparisons(read.data)) : report.comparisons(read.data)
    throw new ApiError('INVALID_ARGUMENT', read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
  })
}

function addEvidence(app: FastifyInstance, { report, notifier, joined, page, actorOf }: MigrationSources): void {
  const evidence = joined?.evidence
  app.get('/evidence', async () => {
    const counted = (await evidence?.counted()) ?? report.counted()
    const whole = report.whole(counted)
    return {
      ...report.evidence(counted),
      ...(whole && { whole }),
      ...(page !== undefined && { page }),
      ...(notifier && { notifications: notifier.counts() }),
    }
  })
  app.post('/evidence/epoch', async (request) => {
    if (!evidence) throw NO_EPOCHS
    return evidence.epochs.begin(actorOf(request)).catch((error: Error) => {
      throw new ApiError('UNAVAILABLE', `no epoch was begun: ${error.message}`)
    })
  })
}

const NO_EPOCHS = new ApiError(
  'FAILED_PRECONDITION',
  'only replicas that share a store (store.url) have epochs; without one, evidence starts again with a new records.file',
)
