import pLimit from 'p-limit'
import { mappings } from '../../../mappings/index.ts'
import type { Comparison } from '../../../src/migrate/records/record.ts'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { isRead } from '../../../src/serve/sides.ts'
import { DIALECTS, type Dialect } from '../../../src/tables/uid.ts'
import { seeded } from '../../stage/clocks.ts'
import { startQuietSandbox } from '../../stage/stage.ts'
import { shuffled } from '../mutants/mutant.ts'
import { AGAINST, count, createTally, type Place, placesOf, type Slice, type SliceOptions, type Tally, type Verdict } from './judge.ts'
import { isRecord, leafMutations, listMutations, type Mutation, placesIn, replaced, withBody, withoutMember } from './mutate.ts'
import {
  type Comparing,
  type EachMode,
  type Forward,
  type Received,
  type RelayedAnswer,
  type RelayedCall,
  type Spoil,
  startEachMode,
} from './stage.ts'
import { type Fresh, freshAt, WRITES, type WriteRequest } from './write-cases.ts'

type LostRow = Readonly<Record<string, unknown>>

const SOON = () => new Date(Date.now() + 2000).toISOString()

/** v2 answers a write as if it had done it, and does nothing; of a batch, it does the first `kept`. */
function losing(kept: number): Spoil {
  return async (call, forward) => {
    if (call.method === 'GET') return forward()
    if (call.method === 'DELETE') return json({})
    const body: unknown = call.body ? JSON.parse(call.body.toString()) : {}
    const lose = losers.find(([fits]) => fits(call))?.[1] ?? unmade
    return lose({ call, forward, body: isRecord(body) ? body : {}, kept })
  }
}

interface Write {
  readonly call: RelayedCall
  readonly forward: Forward
  readonly body: LostRow
  readonly kept: number
}

type Lose = (write: Write) => Promise<RelayedAnswer>

const has = (part: string) => (call: RelayedCall) => call.url.includes(part)

const losers: readonly (readonly [fits: (call: RelayedCall) => boolean, lose: Lose])[] = [
  [has(':updateIdentityMetadata'), async ({ body }) => json({ uid: '00', ...(body['identityMetadata'] as LostRow) })],
  [has(':requestGroupAccess'), async () => json({})],
  [has(':checkAccountAssociation'), async () => json({ status: 'READY' })],
  [has(':batchCreate'), halfMade],
  [has(':batchDelete'), halfDeleted],
  [has('ScimToken'), scim],
  [has(':setScimEnabled'), scim],
  [has('/terms/'), async ({ call, body }) => json({ group: call.url.split('/').slice(4).join('/'), documentIds: body['documentIds'] })],
  [({ method }) => method === 'PATCH', unchanged],
  [has('/registry/v2/tags/'), unchangedTag],
]

/** Makes the resource for its answer, and deletes it. */
async function unmade({ call, forward }: Write): Promise<RelayedAnswer> {
  const answer = await forward()
  if (answer.status === 200) await remove(call, forward, parsed(answer))
  return answer
}

async function remove({ url }: RelayedCall, forward: Forward, { uid }: LostRow): Promise<void> {
  const collection = url.split('?')[0]?.split(/[/:]/).slice(0, 4).join('/')
  await forward({ method: 'DELETE', url: `${collection}/${uid}`, body: undefined })
}

async function halfMade({ call, forward, kept }: Write): Promise<RelayedAnswer> {
  const answer = await forward()
  const rows = (parsed(answer)['roleBindings'] ?? []) as readonly LostRow[]
  for (const row of rows.slice(kept)) await remove(call, forward, row)
  return answer
}

async function halfDeleted({ call, forward, body, kept }: Write): Promise<RelayedAnswer> {
  const names = body['names'] as readonly string[]
  const collection = call.url.split(':')[0]
  const rows: LostRow[] = []
  for (const name of names) rows.push(parsed(await forward({ method: 'GET', url: `${collection}/${name}`, body: undefined })))
  if (kept > 0) await forward({ body: Buffer.from(JSON.stringify({ ...body, names: names.slice(0, kept) })) })
  return json({ externalGroupRoleMappings: rows })
}

async function scim({ call, forward, body }: Write): Promise<RelayedAnswer> {
  const [path = ''] = call.url.split(':')
  const { uid, scim: before } = parsed(await forward({ method: 'GET', url: path, body: undefined }))
  const shown = { identityProviderUid: uid, etag: 'another' }
  if (call.url.includes(':revoke')) return json({ ...shown, enabled: false, revokeTime: SOON() })
  if (call.url.includes(':setScim')) return json({ ...shown, enabled: body['enabled'] })
  const { endpointUrl } = before as LostRow
  return json({ ...shown, token: 'cgscim_0', endpointUrl, expireTime: SOON() })
}

async function unchanged({ call, forward, body }: Write): Promise<RelayedAnswer> {
  const [path = ''] = call.url.split('?')
  return json(merged(parsed(await forward({ method: 'GET', url: path, body: undefined })), body))
}

async function unchangedTag(write: Write): Promise<RelayedAnswer> {
  const { call, forward, body } = write
  const repo = call.url.slice('/registry/v2/tags/'.length)
  const url = `/registry/v2/tags?uidp.children_of=${repo}&name=${body['name']}`
  const [tag] = (parsed(await forward({ method: 'GET', url, body: undefined }))['tags'] ?? []) as readonly LostRow[]
  return tag ? json(merged(tag, body)) : unmade(write)
}

/** Returns what v2 would answer after a change. */
function merged(before: LostRow, body: LostRow): LostRow {
  const { identityUid, roleUid, ...others } = body
  const parts = {
    ...(identityUid !== undefined && { identity: { uid: identityUid } }),
    ...(roleUid !== undefined && { role: { uid: roleUid } }),
  }
  return { ...before, ...others, ...parts, ...('updateTime' in before && { updateTime: SOON() }) }
}

function parsed({ body }: RelayedAnswer): LostRow {
  return JSON.parse(body.toString()) as LostRow
}

function json(value: unknown): RelayedAnswer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(value)) }
}

/** The v1 read of a resource, by the first segments of the path of its writes, where it is not the list with `?id=`. */
const READS: Readonly<Record<string, (id: string) => string>> = {
  '/iam/v1/account_associations': (id) => `?group=${id}`,
  '/iam/v1/externalGroupRoleMappings': (id) => `/${id}`,
  '/iam/v1/terms': (id) => `/${id}`,
}

const NOT_FOUND: RelayedAnswer = { ...json({ code: 5, message: 'not found', details: [] }), status: 404 }

/**
 * A v2 whose reads show what was there before a write that v1 served: the resource as it was, or none. Of a batch, it shows the first
 * `kept` as they are.
 */
async function staleAfter({ oracle }: WriteBench, { path, body }: WriteRequest, kept: number): Promise<Spoil> {
  const before = new Map<string, RelayedAnswer>()
  const [, collection = '', rest = ''] = /^(\/\w+\/v1\/\w+)[/:]?(.*)$/.exec(path) ?? []
  const batch = (body as { ids?: readonly string[] } | undefined)?.ids
  const ids = batch ?? [rest.split(':')[0] ?? '']
  const remember: Spoil = async ({ url }, forward) => {
    const answer = await forward()
    before.set(url, answer)
    return answer
  }
  const reader = oracle.caller({ v2: remember })
  for (const id of ids) await reader.send('GET', `${collection}${READS[collection]?.(id) ?? `?id=${id}`}`)
  const shown = new Set<string>()
  return async ({ method, url }, forward) => {
    if (method !== 'GET') return forward()
    const own = before.get(url) ?? NOT_FOUND
    const uid = url.split('?')[0]?.split('/').slice(4).join('/') ?? ''
    if (shown.size < kept) shown.add(uid)
    return shown.has(uid) ? forward() : own
  }
}

/** What v2 did in a write, as its own answer says it, and what it told instead. */
interface ToldWrite {
  readonly call: RelayedCall
  readonly done: RelayedAnswer
  readonly told: RelayedAnswer
}

/** A way to tell something else than what was done. `seen` gets each write of the request. */
interface Lie {
  readonly name: string
  readonly respells?: true
  readonly spoil: (seen: ToldWrite[]) => Spoil
}

/** All lies about a write that an honest run has shown. `random` chooses the places. */
function liesAbout({ call, done }: ToldWrite, random: () => () => number): readonly Lie[] {
  const [asked, answer] = [parsedOfTold(call.body), parsedOfTold(done.body)]
  return [...mutationsOf(answer, random()).map((mutation) => spoiledBy(mutation, random)), ...partsOf(asked, answer, random())]
}

function mutationsOf(answer: unknown, random: () => number): readonly Mutation[] {
  return [...leafMutations(answer, random), ...listMutations(answer, random)]
}

/** The answer of each run has values of its own, so that its mutations are made anew. */
function spoiledBy({ name, respells }: Mutation, random: () => () => number): Lie {
  return {
    name: `answer ${name}`,
    ...(respells && { respells }),
    spoil: (seen) => async (call, forward) => {
      const done = await forward()
      if (call.method === 'GET' || seen.length > 0) return done
      const mutation = mutationsOf(parsedOfTold(done.body), random()).find((one) => one.name === name)
      const told = mutation ? mutation.apply(done) : done
      seen.push({ call, done, told })
      return told
    },
  }
}

/** Leaves one member of the body out of what is stored, and answers as if it were there. */
function partsOf(asked: unknown, answer: unknown, random: () => number): readonly Lie[] {
  const echoed = new Map(placesIn(answer, random).map(({ at, value }) => [at, JSON.stringify(value)]))
  const places = placesIn(asked, random).filter(({ at, value, isMember }) => isMember && echoed.get(at) === JSON.stringify(value))
  return places.map(({ at }) => ({
    name: `stored without ${at}`,
    spoil: (seen) => async (call, forward) => {
      if (call.method === 'GET' || seen.length > 0) return forward()
      const body = parsedOfTold(call.body)
      const done = await forward({ body: Buffer.from(JSON.stringify(withoutMember(body, at))), url: unmasked(call.url, at) })
      const told = done.status === 200 ? withBody(done, replaced(parsedOfTold(done.body), at, valueAt(body, at))) : done
      seen.push({ call, done, told })
      return told
    },
  }))
}

/** Takes a member out of the field mask, so that its old value stays. */
function unmasked(url: string, at: string): string {
  const [path = '', query = ''] = url.split('?')
  const given = new URLSearchParams(query)
  const mask = given.get('updateMask')
  if (mask === null || mask === '*') return url
  const name = at.slice(1).replaceAll('/', '.')
  const kept = mask.split(',').filter((one) => one !== name && one.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) !== name)
  given.set('updateMask', kept.join())
  return `${path}?${given}`
}

function valueAt(body: unknown, at: string): unknown {
  let value = body
  for (const name of at.slice(1).split('/')) value = isRecord(value) ? value[name.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
  return value
}

function parsedOfTold(body: Buffer | undefined): unknown {
  return body && body.length > 0 ? JSON.parse(body.toString()) : undefined
}

/** One sandbox with a Crosswalk for each mode in front of it, and fresh resources for every write. */
interface WriteBench extends EachMode {
  readonly dialect: Dialect
  readonly sandbox: Sandbox
  readonly fresh: Fresh
}

async function startWriteBench(dialect: Dialect): Promise<WriteBench> {
  const sandbox = await startQuietSandbox({ v1Dialect: dialect })
  const modes = await startEachMode({ sandbox, config: { 'v1.dialect': dialect } })
  const fresh = freshAt(sandbox)
  await bindOwners(sandbox, fresh)
  return { dialect, sandbox, fresh, ...modes }
}

/** Served writes that no case sends. */
function unwritten(): readonly string[] {
  const served = mappings.flatMap(({ operations }) => operations).filter((operation) => operation.begin && !isRead(operation))
  return served.map(({ id }) => id).filter((id) => !Object.hasOwn(WRITES, id))
}

/** Two people must be owners before SCIM can be switched on (semantics §3.3). */
async function bindOwners({ url, tokens, organization }: Sandbox, fresh: Fresh): Promise<void> {
  const headers = { authorization: `Bearer ${tokens.owner}` }
  const { items } = (await (await fetch(`${url}/iam/v1/roles?name=owner`, { headers })).json()) as { items: { id: string }[] }
  for (let nth = 0; nth < 2; nth += 1) {
    await fresh.post(`/iam/v1/rolebindings/${organization}`, { identity: await fresh.identity(organization), role: items[0]?.id })
  }
}

/** A write with fresh resources that was sent once. */
interface TriedWrite {
  readonly operation: string
  readonly mode: Comparing
  readonly name: string
  readonly hash: string
  readonly received: Received
  /** Where the answer tells a client something else than what was done; undefined if nothing was done. */
  readonly places: readonly Place[] | undefined
}

/** Makes the spoil of v2, once the request is known. */
type MakeSpoil = (request: WriteRequest) => Promise<Spoil | undefined>

/** Sends a write whose effect is lost, or an honest one. */
async function tryWrite(bench: WriteBench, mode: Comparing, operation: string, name: string, make: MakeSpoil): Promise<TriedWrite> {
  const request = await requestOf(bench, operation)
  const v2 = await make(request)
  const caller = bench.comparing[mode].caller(v2 && { v2 })
  await caller.introduce()
  const received = await caller.send(request.method, request.path, request.body)
  return { operation, mode, name, hash: caller.hash, received, places: undefined }
}

/** Sends a write to a v2 that does one thing and tells another, and asks the oracle where a client sees it. */
async function tryLie(bench: WriteBench, operation: string, lie: Lie): Promise<TriedWrite> {
  const seen: ToldWrite[] = []
  let request: WriteRequest | undefined
  const tried = await tryWrite(bench, 'diff-v2', operation, lie.name, async (asked) => {
    request = asked
    return lie.spoil(seen)
  })
  // What v2 told was no answer at all.
  if (tried.received.status >= 500) return { ...tried, places: [{ at: '', value: String(tried.received.status) }] }
  if (!request || tried.received.status !== 200) return tried
  const [done, told] = [await asIf(bench, request, seen, 'done'), await asIf(bench, request, seen, 'told')]
  return { ...tried, places: placesOf(done, told) }
}

/** Returns the answer to a client if v2 gives these answers to its writes. */
async function asIf(bench: WriteBench, { method, path, body }: WriteRequest, seen: readonly ToldWrite[], which: 'done' | 'told') {
  let nth = 0
  const v2: Spoil = async (call, forward) => {
    if (call.method === 'GET') return forward()
    nth += 1
    return seen[nth - 1]?.[which] ?? forward()
  }
  return bench.oracle.caller({ v2 }).send(method, path, body)
}

async function requestOf({ fresh }: WriteBench, operation: string): Promise<WriteRequest> {
  const prepare = WRITES[operation]
  if (!prepare) throw new Error(`no write of test/programs/differ/write-cases.ts asks ${operation}`)
  return prepare(fresh)
}

/** Judges what was recorded of a write. A lost one is visible at once; another one where the oracle says so. */
function writeVerdict({ operation, places }: TriedWrite, recorded: readonly Comparison[]): Verdict {
  const against = recorded.find(({ outcome }) => AGAINST.has(outcome))
  const told = recorded.map(({ outcome, reason, examples }) => [outcome, reason, ...examples.map(({ at }) => at)].join(' ')).join('; ')
  if (places?.length === 0) return against ? { is: 'flagged', reason: told } : { is: 'silent' }
  if (!against) return { is: 'missed', reason: told || 'not compared' }
  return against.operation === operation ? { is: 'found' } : { is: 'misplaced', reason: `${against.operation} ${told}` }
}

/** Writes at the same time. */
const PARALLEL = 8

export const writesSlice: Slice = {
  name: 'writes',
  tries: 'every served write: honest, lost, half of a batch lost, and its answer telling something else than was done',
  async run({ seed, ms }) {
    if (unwritten().length > 0) throw new Error(`no case of test/programs/differ/write-cases.ts sends ${unwritten()}`)
    const tallies: Tally[] = []
    for (const dialect of DIALECTS) {
      const bench = await startWriteBench(dialect)
      try {
        tallies.push(...(await scoreBench(bench, { seed, ms: ms && ms / DIALECTS.length })))
      } finally {
        await bench.close()
      }
    }
    return tallies
  },
}

/** Why no read can show the effect of a write, by operation. */
const UNVERIFIABLE = new Map(
  mappings
    .flatMap(({ operations }) => operations)
    .flatMap(({ id, readBack }) => (readBack && 'unverifiable' in readBack ? [[id, readBack.unverifiable] as const] : [])),
)

/** Members of an answer that no read shows. */
const UNREAD: readonly (readonly [operations: RegExp, members: RegExp, because: string])[] = [
  [/group_invites\.create$/, /^\/code$/, 'the code of an invite is shown once'],
  [/batch_delete$/, /^\/(parent_?[iI]d|items)(\/.*)?$/, 'a mapping that was deleted is not shown any more'],
  [/terms\.accept$/, /^\/document_?[iI]ds$/, 'the order of accepted documents is not shown'],
  [/scim_token$/, /^\/(token|requested_?[oO]verlap|revoke_?[tT]ime)$/, 'a SCIM token is shown once, its overlap and revocation not at all'],
]

const REFUSED = 'v2 refused what the case sent'

type Trial = () => Promise<TriedWrite>

async function scoreBench(bench: WriteBench, { seed, ms }: SliceOptions): Promise<readonly Tally[]> {
  const verified = Object.keys(WRITES).filter((operation) => !UNVERIFIABLE.has(operation))
  const batches = verified.filter((operation) => operation.includes('batch'))
  const lose = (operation: string, kept: number) => () =>
    tryWrite(bench, 'diff-v2', operation, `lost but ${kept}`, async () => losing(kept))
  const stale = (operation: string, kept: number) => () =>
    tryWrite(bench, 'diff-v1', operation, `not read but ${kept}`, (request) => staleAfter(bench, request, kept))
  const honest = (mode: Comparing) =>
    verified.map((operation) => async () => ({
      ...(await tryWrite(bench, mode, operation, 'as it is', async () => undefined)),
      places: [],
    }))
  const lies = await liesOf(bench, verified, seed)
  const sets: readonly (readonly [name: string, trials: readonly Trial[]])[] = [
    ['honest', [...honest('diff-v1'), ...honest('diff-v2')]],
    ['lost, diff-v2', [...verified.map((operation) => lose(operation, 0)), ...batches.map((operation) => lose(operation, 1))]],
    ['lost, diff-v1', [...verified.map((operation) => stale(operation, 0)), ...batches.map((operation) => stale(operation, 1))]],
    ['told otherwise, diff-v2', lies],
  ]
  const tallies: Tally[] = []
  for (const [name, trials] of sets) tallies.push(await scoreSet(bench, `writes ${name}, ${bench.dialect}`, trials, { seed, ms }))
  tallies.at(-1)?.notes.push(...[...UNVERIFIABLE].map(([operation, because]) => `${operation} cannot be verified: ${because}`))
  return tallies
}

/** Every lie about every write, as an honest run of it shows them. */
async function liesOf(bench: WriteBench, operations: readonly string[], seed: number): Promise<readonly Trial[]> {
  const lies: Trial[] = []
  for (const operation of operations) {
    const seen: ToldWrite[] = []
    await tryWrite(bench, 'diff-v2', operation, 'shown', async () => async (call, forward) => {
      const done = await forward()
      if (call.method !== 'GET') seen.push({ call, done, told: done })
      return done
    })
    const [first] = seen
    if (!first || first.call.method === 'DELETE') continue
    for (const lie of liesAbout(first, () => seeded(seed))) if (!lie.respells) lies.push(() => tryLie(bench, operation, lie))
  }
  return lies
}

async function scoreSet(bench: WriteBench, name: string, all: readonly Trial[], { seed, ms }: SliceOptions): Promise<Tally> {
  const end = performance.now() + (ms === undefined ? Number.POSITIVE_INFINITY : ms / 4)
  const limit = pLimit(PARALLEL)
  const trials = ms === undefined ? all : shuffled(all, seed)
  const tried = await Promise.all(trials.map((trial) => limit(async () => (performance.now() < end ? trial() : undefined))))
  const records = { 'diff-v1': await bench.comparing['diff-v1'].records(), 'diff-v2': await bench.comparing['diff-v2'].records() }
  const tally = createTally(name, 1)
  const unread = new Map<string, number>()
  for (const one of tried) {
    if (!one) continue
    const { operation, mode, received, places, hash } = one
    const recorded = records[mode].get(hash) ?? []
    if (received.status !== 200 && !(places && received.status >= 500)) {
      if (one.name === 'as it is') tally.missed.push(`${operation} ${mode}: HTTP ${received.status} ${received.text}`)
      else unread.set(REFUSED, (unread.get(REFUSED) ?? 0) + 1)
      continue
    }
    const verdict = writeVerdict(one, recorded)
    const because = unreadReason(one)
    if (verdict.is === 'missed' && because !== undefined) unread.set(because, (unread.get(because) ?? 0) + 1)
    else if (one.name === 'as it is' && !recorded.some(({ outcome }) => outcome === 'match' || outcome === 'expected')) {
      tally.missed.push(`${operation} ${mode}, honest: not verified, ${recorded.map(({ outcome, reason }) => `${outcome} ${reason}`)}`)
    } else count(tally, verdict, `${operation} ${one.name}${places ? ` (${places.map(({ at }) => at)})` : ''}`)
  }
  tally.notes.push(...[...unread].map(([because, times]) => `${times} not scored: ${because}`))
  return tally
}

function unreadReason({ operation, places = [] }: TriedWrite): string | undefined {
  const found = UNREAD.find(([operations, members]) => operations.test(operation) && places.every(({ at }) => members.test(at)))
  return places.length > 0 ? found?.[2] : undefined
}
