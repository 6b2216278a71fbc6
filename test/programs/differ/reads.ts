import pLimit from 'p-limit'
import { mappings } from '../../../mappings/index.ts'
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts'
import { isRead } from '../../../src/serve/sides.ts'
import { DIALECTS, type Dialect } from '../../../src/tables/uid.ts'
import { seeded } from '../../stage/clocks.ts'
import { bearer } from '../../stage/stage.ts'
import { shuffled } from '../mutants/mutant.ts'
import { count, createTally, type Place, type Slice, type SliceOptions, type Tally, verdictOf, visiblePlaces } from './judge.ts'
import { leafMutations, listMutations, type Mutation, wholeMutations } from './mutate.ts'
import {
  COMPARING,
  type Comparing,
  type Differ,
  type EachMode,
  type Received,
  type RelayedAnswer,
  type Role,
  receive,
  type Spoil,
  startEachMode,
} from './stage.ts'

/** A v2 call that a read makes, and what may happen to its answer. */
export interface Target {
  /** Path and query. */
  readonly url: string
  readonly mutations: readonly Mutation[]
}

/** A read over a v2 as it is. */
export interface CalmRead {
  readonly received: Received
  readonly targets: readonly Target[]
}

/** Makes a read once, and returns its v2 calls: one of each kind, chosen by `random`, with every mutation of its answer. */
export async function calmRead(oracle: Differ, { path, role = 'owner' }: Read, random: () => number): Promise<CalmRead> {
  const answers = new Map<string, RelayedAnswer>()
  const overhear: Spoil = async (call, forward) => {
    const answer = await forward()
    answers.set(call.url, answer)
    return answer
  }
  const received = await oracle.caller({ role, v2: overhear }).send('GET', path)
  const kinds = new Map<string, string[]>()
  for (const url of [...answers.keys()].sort()) kinds.set(kindOf(url), [...(kinds.get(kindOf(url)) ?? []), url])
  const targets = [...kinds.values()].map((urls) => {
    const url = urls[Math.floor(random() * urls.length)] as string
    return { url, mutations: mutationsOf(answers.get(url) as RelayedAnswer, random) }
  })
  return { received, targets }
}

/** Returns the same kind for calls that differ only in their uids and their window: pages of a list, readmes of its rows. */
function kindOf(url: string): string {
  const [path = '', query = ''] = url.split('?')
  const isLater = /(?:^|&)(?:page_token|skip)=/.test(query)
  return `${path.replaceAll(/[0-9a-f]{16,40}(?:(?:\/|%2F)[0-9a-f]{16})*/gi, '{uid}')}${isLater ? ' later' : ''}`
}

function mutationsOf(answer: RelayedAnswer, random: () => number): readonly Mutation[] {
  const body: unknown = JSON.parse(answer.body.toString())
  return [...wholeMutations(answer, body), ...listMutations(body, random), ...leafMutations(body, random)]
}

/** A read with its answers as long as nothing is spoiled. */
export interface PreparedRead extends CalmRead {
  readonly read: Read
  readonly genuine: Received
}

/** One sandbox, with a Crosswalk for each mode in front of it. Nobody writes. */
export interface Bench extends EachMode {
  readonly dialect: Dialect
  readonly sandbox: Sandbox
}

/** Starts a bench on free ports. */
export async function startBench(dialect: Dialect): Promise<Bench> {
  const sandbox = await startSandbox({ port: 0, v1Dialect: dialect })
  const modes = await startEachMode({ sandbox, atRest: true, config: { 'v1.dialect': dialect } })
  return { dialect, sandbox, ...modes }
}

/** Makes a read once on both sides. `random` chooses the v2 answers to spoil, and the places in them. */
export async function prepareRead({ sandbox, oracle }: Bench, read: Read, random: () => number): Promise<PreparedRead> {
  const genuine = await receive(`${sandbox.url}${read.path}`, bearer(sandbox.tokens[read.role ?? 'owner']))
  return { read, genuine, ...(await calmRead(oracle, read, random)) }
}

/** A read, and one way to spoil one of its v2 answers. */
export interface SpoiledRead {
  readonly prepared: PreparedRead
  /** The spoiled call. */
  readonly url: string
  readonly mutation: Mutation
}

/** What became of a spoiled read. */
export interface Tried extends SpoiledRead {
  /** Where a client would see it. */
  readonly places: readonly Place[]
  /** The caller in each mode, whose record is to be judged. */
  readonly callers: Readonly<Record<Comparing, string>>
}

const AS_IT_IS: Mutation = { name: 'as it is', apply: (answer) => answer }

/** All ways to spoil these reads, and each read as it is. */
export function spoiledReads(reads: readonly PreparedRead[]): readonly SpoiledRead[] {
  return reads.flatMap((prepared) => [
    { prepared, url: '', mutation: AS_IT_IS },
    ...prepared.targets.flatMap(({ url, mutations }) => mutations.map((mutation) => ({ prepared, url, mutation }))),
  ])
}

/** Sends a spoiled read to the oracle, and once in each comparing mode. With `once`, only the first answer to the call is spoiled. */
export async function trySpoiled({ oracle, comparing }: Bench, spoiled: SpoiledRead, once: boolean): Promise<Tried> {
  const { prepared, url, mutation } = spoiled
  const { read, genuine, received: calm } = prepared
  const role = read.role ?? 'owner'
  const v2: Spoil = async (call, forward) => {
    const answer = await forward()
    return call.url === url && (!once || call.nth === 1) ? mutation.apply(answer) : answer
  }
  const seen = await oracle.caller({ role, v2 }).send('GET', read.path)
  const callers = COMPARING.map(async (mode) => {
    const caller = comparing[mode].caller({ role, v2 })
    await caller.introduce()
    await caller.send('GET', read.path)
    return [mode, caller.hash] as const
  })
  const hashes = Object.fromEntries(await Promise.all(callers)) as Record<Comparing, string>
  return { ...spoiled, places: visiblePlaces(genuine, calm, seen), callers: hashes }
}

/** Describes a spoiled read for people. */
export function describeSpoiled({ prepared, url, mutation }: SpoiledRead): string {
  const { operation, path, role = 'owner' } = prepared.read
  return `GET ${path} of the ${role} (${operation}), ${url === '' ? '' : `v2's GET ${url}: `}${mutation.name}`
}

/** Reads that are sent before their records are read. */
const BATCH = 300

/** Reads at the same time. */
const PARALLEL = 12

/** How cases are tried and what they must reach. */
export interface Way {
  readonly name: string
  /** Only the first answer to the call is spoiled. */
  readonly once: boolean
  readonly bound: number
  /** Milliseconds after which no further batch begins. */
  readonly ms: number | undefined
}

/** Uses a bench of each dialect in turn, and returns what `use` counted. */
export async function onBenches(use: (bench: Bench) => Promise<readonly Tally[]>): Promise<readonly Tally[]> {
  const tallies: Tally[] = []
  for (const dialect of DIALECTS) {
    const bench = await startBench(dialect)
    try {
      tallies.push(...(await use(bench)))
    } finally {
      await bench.close()
    }
  }
  return tallies
}

/** Tries cases in both comparing modes; one tally for each. */
export async function scoreCases(bench: Bench, cases: readonly SpoiledRead[], way: Way): Promise<readonly Tally[]> {
  const { name, once, bound, ms = Number.POSITIVE_INFINITY } = way
  const tallies = COMPARING.map((mode) => ({ mode, tally: createTally(`${name}, ${mode}, ${bench.dialect}`, bound, cases.length) }))
  const limit = pLimit(PARALLEL)
  const end = performance.now() + ms
  for (let from = 0; from < cases.length && performance.now() < end; from += BATCH) {
    const tried = await Promise.all(cases.slice(from, from + BATCH).map((spoiled) => limit(() => trySpoiled(bench, spoiled, once))))
    for (const { mode, tally } of tallies) {
      const records = await bench.comparing[mode].records()
      for (const one of tried) {
        const { operation } = one.prepared.read
        const verdict = verdictOf(operation, one.places, records.get(one.callers[mode]) ?? [])
        if (one.mutation.respells) tally.respelled += 1
        else count(tally, verdict, describeSpoiled(one))
      }
    }
  }
  return tallies.map(({ tally }) => tally)
}

/** A read that is compared. */
export interface Read {
  readonly operation: string
  /** v1 path and query. */
  readonly path: string
  /** The default is the owner. */
  readonly role?: Role
}

/** Reads of every served operation: whole lists, windows, filters, one resource, and resources that are missing. */
export function readsOf({ organization }: Sandbox, uids: Uids): readonly Read[] {
  return [...accessReads(organization, uids), ...registryReads(organization, uids), ...catalogueReads(organization, uids)]
}

const MISSING = '0123456789abcdef0123456789abcdef01234567'

function accessReads(organization: string, { folder, group, identity, role, provider, mapping, binding }: Uids): readonly Read[] {
  const iam = '/iam/v1'
  return [
    { operation: 'iam.groups.list', path: `${iam}/groups` },
    { operation: 'iam.groups.list', path: `${iam}/groups?uidp.descendants_of=${organization}&offset=1&limit=2&order_by=name` },
    { operation: 'iam.groups.list', path: `${iam}/groups?id=${MISSING}` },
    { operation: 'iam.groups.list', path: `${iam}/groups`, role: 'outsider' },
    { operation: 'iam.groups.lookup', path: `${iam}/groups:lookupGroup` },
    { operation: 'iam.groups.check_eligibility', path: `${iam}/groups:checkEligibility` },
    { operation: 'iam.identities.list', path: `${iam}/identities` },
    { operation: 'iam.identities.list', path: `${iam}/identities?id=${identity}` },
    { operation: 'iam.identities.lookup', path: `${iam}/identities/lookup?issuer=https://accounts.example.com&subject=bob@example.com` },
    { operation: 'iam.identities.lookup', path: `${iam}/identities/lookup?issuer=https://accounts.example.com&subject=eve@acme.dev` },
    { operation: 'iam.roles.list', path: `${iam}/roles` },
    { operation: 'iam.roles.list', path: `${iam}/roles?id=${role}` },
    { operation: 'iam.roles.list', path: `${iam}/roles?page=2&page_size=5&order_by=name+desc`, role: 'viewer' },
    { operation: 'iam.role_bindings.list', path: `${iam}/rolebindings` },
    { operation: 'iam.role_bindings.list', path: `${iam}/rolebindings?id=${binding}` },
    { operation: 'iam.identity_providers.list', path: `${iam}/identityProviders` },
    { operation: 'iam.external_group_role_mappings.list', path: `${iam}/externalGroupRoleMappings` },
    {
      operation: 'iam.external_group_role_mappings.list',
      path: `${iam}/externalGroupRoleMappings?identity_provider_uidp=${provider}&limit=1`,
    },
    { operation: 'iam.external_group_role_mappings.get', path: `${iam}/externalGroupRoleMappings/${mapping}` },
    { operation: 'iam.external_group_role_mappings.get', path: `${iam}/externalGroupRoleMappings/${provider}/0123456789abcdef` },
    { operation: 'iam.group_invites.list', path: `${iam}/group_invites` },
    { operation: 'iam.account_associations.list', path: `${iam}/account_associations` },
    { operation: 'iam.account_associations.list', path: `${iam}/account_associations?group=${group}` },
    { operation: 'iam.terms.list', path: `${iam}/terms/${organization}` },
    { operation: 'iam.terms.list', path: `${iam}/terms/${folder}` },
    { operation: 'events.subscriptions.list', path: '/events/v1/subscriptions' },
    { operation: 'ping.ping.ping', path: '/ping/v1/ping' },
  ]
}

function registryReads(organization: string, { repo, small, source, digest }: Uids): readonly Read[] {
  const registry = '/registry/v1'
  const image = `${registry}/repos/${repo}/digests`
  return [
    { operation: 'registry.repos.list', path: `${registry}/repos?uidp.descendants_of=${organization}` },
    { operation: 'registry.repos.list', path: `${registry}/repos?id=${repo}` },
    { operation: 'registry.repos.list', path: `${registry}/repos?uidp.children_of=${organization}&offset=2&limit=3`, role: 'viewer' },
    { operation: 'registry.tags.list', path: `${registry}/tags?uidp.children_of=${repo}` },
    { operation: 'registry.tags.list', path: `${registry}/tags?uidp.children_of=${repo}&exclude_dates=true&name=latest` },
    { operation: 'registry.eol_tags.list', path: `${registry}/eoltags?uidp.children_of=${small}` },
    { operation: 'registry.repo_tags_summary.get', path: `${registry}/repotagssummary/${repo}` },
    { operation: 'registry.repo_count_by_source.get', path: `${registry}/repocountbysource/${source}`, role: 'admin' },
    { operation: 'registry.images.architectures', path: `${image}/${digest}/architectures` },
    { operation: 'registry.images.size', path: `${image}/${digest}/size?arch=arm64` },
    { operation: 'registry.images.size', path: `${image}/sha256:${'0'.repeat(64)}/size` },
  ]
}

function catalogueReads(organization: string, { advisory }: Uids): readonly Read[] {
  const artifacts = '/libraries/v1/artifacts'
  const advisories = '/vulnerabilities/v1/advisories'
  return [
    { operation: 'vulnerabilities.advisories.list', path: `${advisories}?uidp.descendants_of=${organization}&page_size=20` },
    { operation: 'vulnerabilities.advisories.list', path: `${advisories}?id=${advisory}` },
    { operation: 'vulnerabilities.advisory_events.list', path: `${advisories}/${advisory}/events` },
    { operation: 'libraries.artifacts.list', path: `${artifacts}?page_size=4&query=re` },
    { operation: 'libraries.artifacts.list', path: `${artifacts}?ecosystems=JAVA&page_size=3` },
    { operation: 'libraries.artifacts.count', path: `${artifacts}/count` },
    { operation: 'libraries.artifacts.list_versions', path: `${artifacts}/python:requests/versions?limit=5` },
    { operation: 'libraries.artifacts.list_versions', path: `${artifacts}/java:junit:junit/versions` },
    { operation: 'advisory.documents.list', path: '/advisory/v1/documents' },
    { operation: 'advisory.documents.list', path: '/advisory/v1/documents?id=openssl' },
    { operation: 'advisory.vulnerability_metadata.list', path: '/advisory/v1/metadata?page_size=3' },
    { operation: 'advisory.resolved_vulns.list', path: '/advisory/v1/images/resolved_vulns' },
  ]
}

/** Uids of the demo data, as genuine v1 tells them. */
export interface Uids {
  readonly folder: string
  /** A group with an account association. */
  readonly group: string
  readonly identity: string
  readonly role: string
  readonly provider: string
  readonly mapping: string
  readonly binding: string
  /** A repo that is synced from `source`. */
  readonly repo: string
  readonly source: string
  /** A repo whose tags fit into one page. */
  readonly small: string
  /** Of the newest image of the repo. */
  readonly digest: string
  readonly advisory: string
}

type Row = Readonly<Record<string, unknown>>

/** Asks genuine v1 for the uids. Throws if the demo data has no such row. */
export async function uidsOf({ url, tokens, organization }: Sandbox): Promise<Uids> {
  const first = async (path: string, is: (row: Row) => boolean = () => true) => {
    const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${tokens.admin}` } })
    const { items } = (await answer.json()) as { items: readonly Row[] }
    const found = items.find(is)
    if (!found) throw new Error(`the sandbox has no such row: ${path}`)
    return found
  }
  const named = (name: string) => (row: Row) => row['name'] === name
  const inside = `uidp.children_of=${organization}`
  const repo = await first(`/registry/v1/repos?${inside}`, named('node'))
  const source = (repo['sync_config'] ?? repo['syncConfig']) as Row
  const id = async (path: string, is?: (row: Row) => boolean) => String((await first(path, is))['id'])
  const provider = await id('/iam/v1/identityProviders')
  return {
    folder: await id(`/iam/v1/groups?${inside}`, named('platform')),
    group: organization,
    identity: await id(`/iam/v1/identities?${inside}`, named('ci-bot')),
    role: await id(`/iam/v1/roles?${inside}`, named('tag-writer')),
    provider,
    mapping: await id(`/iam/v1/externalGroupRoleMappings?identity_provider_uidp=${provider}`),
    binding: await id(`/iam/v1/rolebindings?${inside}`),
    repo: String(repo['id']),
    small: await id(`/registry/v1/repos?${inside}`, named('ruby')),
    source: String(source['source']),
    digest: String((await first(`/registry/v1/tags?uidp.children_of=${repo['id']}`, named('latest')))['digest']),
    advisory: await id(`/vulnerabilities/v1/advisories?uidp.descendants_of=${organization}`),
  }
}

/** v2 is wrong at each asking. */
export const readsSlice: Slice = {
  name: 'reads',
  tries: 'every served read, with each value and shape of each v2 answer spoiled whenever v2 is asked',
  run: (options) => score(options, { name: 'reads', once: false, bound: 0.999 }),
}

/** v2 is wrong at the first asking only. */
export const onceSlice: Slice = {
  name: 'once',
  tries: 'the same, spoiled the first time only',
  run: (options) => score(options, { name: 'once', once: true, bound: 0.99 }),
}

function score({ seed, ms }: SliceOptions, way: Omit<Way, 'ms'>): Promise<readonly Tally[]> {
  return onBenches(async (bench) => {
    const random = seeded(seed)
    const reads: PreparedRead[] = []
    for (const read of readsOf(bench.sandbox, await uidsOf(bench.sandbox))) reads.push(await prepareRead(bench, read, random))
    const unread = unreadIn(reads)
    if (unread.length > 0) throw new Error(`no request of test/programs/differ/reads.ts asks ${unread.join(', ')}`)
    const all = spoiledReads(reads)
    const cases = ms === undefined ? all : shuffled(all, seed)
    return scoreCases(bench, cases, { ...way, ms: ms && ms / DIALECTS.length })
  })
}

/** Served reads that none of these requests asks. */
function unreadIn(reads: readonly PreparedRead[]): readonly string[] {
  const served = mappings.flatMap(({ operations }) => operations).filter((operation) => operation.begin && isRead(operation))
  const asked = new Set(reads.map(({ read }) => read.operation))
  return served.map(({ id }) => id).filter((id) => !asked.has(id))
}
