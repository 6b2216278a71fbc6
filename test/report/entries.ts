import type { ComparisonOutcome } from '../../src/migrate/compare/judge.ts'
import type { Comparison, Entry, Example, Note, TrafficEntry, WouldSend } from '../../src/migrate/records/record.ts'
import { seeded } from '../stage/seeded.ts'

/** 2026-03-01T08:00:00Z */
export const START = Date.UTC(2026, 2, 1, 8)
export const HOUR = 3_600_000

const iso = (at: number) => new Date(at).toISOString()

/** A comparison of `registry.repos.list` that matched, with these members replaced. */
export function comparison(nth: number, members: Partial<Comparison> = {}): Comparison {
  return {
    kind: 'comparison',
    id: `c${nth}`,
    at: iso(START + nth * 1_000),
    operation: 'registry.repos.list',
    mode: 'diff-v1',
    caller: nth.toString(16).padStart(16, '0'),
    shape: 'registry.repos.list?uidp.children_of=child',
    check: 'read',
    outcome: 'match',
    totals: [],
    examples: [],
    v1: { status: 200, ms: 12 },
    v2: { status: 200, ms: 20 },
    ...members,
  }
}

/** The members with which a comparison shows one difference. */
export function shows(example: Example, count = 1): Pick<Comparison, 'totals' | 'examples'> {
  const { kind, where, code, noise } = example
  return { totals: [{ kind, where, count, ...(code !== undefined && { code }), ...(noise && { noise }) }], examples: [example] }
}

export function traffic(caller: string, operation: string, calls: number, at = START, mode = 'diff-v1'): TrafficEntry {
  return { kind: 'traffic', caller, operation, calls, mode, at: iso(at) }
}

export function note(at: number, what: Note['what'], text: string, operation?: string): Note {
  return { kind: 'note', at: iso(at), what, text, ...(operation !== undefined && { operation }) }
}

const UID = '588391a69873a06cb99a4ed5a59102644f751ea4/00df03e05eba2b78'

const DIFFERENCES: Readonly<Record<string, Example>> = {
  'registry.repos.list': { kind: 'value', at: '/items/3/catalog_tier', where: '/items/*/catalog_tier', v1: 'APPLICATION', v2: 'BASE' },
  'iam.roles.list': {
    kind: 'missing',
    at: '/items/2',
    where: '/items/*',
    v1: { id: UID, name: 'text-6-81f0aa21', capabilities: ['repo.list', 'tag.list', 'group.list'], created_at: '2026-02-10T09:00:00.000Z' },
  },
}

const NOISE: Example = {
  kind: 'value',
  at: '/items/0/last_seen',
  where: '/items/*/last_seen',
  noise: true,
  v1: '2026-03-01T08:00:00Z',
  v2: '2026-03-01T08:00:02Z',
}

const DECLARED: Example = {
  kind: 'value',
  at: '/details',
  where: '/details',
  code: 'error-details',
  v1: [],
  v2: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'PERMISSION_DENIED', domain: 'iam.chainguard.dev' }],
}

/** Operations with their shares of the traffic and of wrong answers. */
const PLAN: readonly (readonly [operation: string, share: number, wrong: number])[] = [
  ['registry.tags.list', 0.42, 0],
  ['registry.repos.list', 0.22, 0.02],
  ['iam.groups.list', 0.2, 0],
  ['iam.roles.list', 0.06, 0.004],
  ['iam.role_bindings.list', 0.05, 0],
  ['registry.images.architectures', 0.03, 0.05],
  ['registry.eol_tags.list', 0.02, 0],
]

function wrongOf(operation: string): Partial<Comparison> {
  const example = DIFFERENCES[operation]
  if (example) return { outcome: 'mismatch', ...shows(example) }
  return { outcome: 'error', reason: 'v2 answered HTTP 503 where v1 answered 200', v2: { status: 503, code: 14, ms: 31 } }
}

function otherwise(random: () => number): Partial<Comparison> {
  const dice = random()
  if (dice < 0.03) return { outcome: 'expected', v1: { status: 403, code: 7 }, v2: { status: 403, code: 7 }, ...shows(DECLARED) }
  if (dice < 0.05) return { outcome: 'noise', ...shows(NOISE) }
  if (dice < 0.06)
    return {
      outcome: 'race',
      reason: 'v1 changed between the two answers',
      ...shows({ kind: 'extra', at: '/items/9', where: '/items/*', v2: { id: UID } }),
    }
  return dice < 0.064 ? { outcome: 'inconclusive' as ComparisonOutcome, reason: 'v1 itself answered HTTP 500' } : {}
}

/** A week of `length` comparisons of several operations and clients, with mode changes; repeatable by the seed. */
export function week(length: number, seed = 1): readonly Entry[] {
  const random = seeded(seed)
  const span = 7 * 24 * HOUR
  const timed = Array.from({ length }, (_, nth) => START + (span * (nth + random())) / length)
  const comparisons = timed.map((at, nth): Entry => {
    const dice = random()
    const [operation, , rate] = PLAN.find((_, row) => PLAN.slice(0, row + 1).reduce((sum, [, share]) => sum + share, 0) > dice) ?? PLAN[0]!
    const mended = at > START + 5 * 24 * HOUR && operation === 'registry.images.architectures'
    const members = !mended && random() < rate ? wrongOf(operation) : otherwise(random)
    const shape = `${operation}?limit=${random() < 0.5 ? 'small' : 'large'}&uidp.children_of=child`
    const ms = 8 + 30 * random() ** 3
    return comparison(nth, {
      at: iso(at),
      operation,
      shape,
      caller: Math.floor(random() * 4_000)
        .toString(16)
        .padStart(16, 'c'),
      v1: { status: 200, ms },
      v2: { status: 200, ms: ms * 1.3 + 4 * random() },
      ...members,
    })
  })
  return [...comparisons, ...surroundings(random, length)].sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
}

function surroundings(random: () => number, length: number): readonly Entry[] {
  const day = 24 * HOUR
  const use = Array.from({ length: 40 }, (_, nth) => {
    const [operation = ''] = nth % 7 === 3 ? ['registry.vuln_reports.list'] : (PLAN[nth % PLAN.length] ?? [])
    return traffic(`client-${nth}`, operation, Math.ceil((length / 20) * random()), START + nth * HOUR)
  })
  const wouldSend: WouldSend = {
    kind: 'would-send',
    caller: 'client-1',
    at: iso(START + day),
    operation: 'registry.repos.update',
    mode: 'diff-v1',
    shape: 'registry.repos.update?.description=text',
    call: { method: 'PATCH', path: `/registry/v2/repos/${UID}`, query: [['updateMask', '*']], body: { description: 'text-12-9be1a5c7' } },
  }
  return [
    ...use,
    wouldSend,
    traffic('client-1', 'registry.repos.update', 1, START + day),
    note(START, 'restart', 'Crosswalk started.'),
    note(START + HOUR, 'modes', 'Default mode diff-v1.'),
    note(
      START + 2.5 * day,
      'circuit',
      'errors: 3 of 22 answers in 60 s, more than the 5 % that are allowed',
      'registry.images.architectures',
    ),
    note(START + 5 * day, 'modes', 'registry.tags.*: 10 % of clients v2.'),
    note(START + 6 * day, 'modes', 'registry.tags.*: v2.'),
  ]
}

export function lines(entries: readonly Entry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
}
