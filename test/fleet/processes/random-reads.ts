import { seeded } from '../../stage/seeded.ts'

/** A read of a client, and the replica that it reaches. */
export interface RandomRead {
  readonly path: string
  readonly token: string
  readonly replica: number
}

const LISTS = [
  '/iam/v1/groups',
  '/iam/v1/identities',
  '/iam/v1/identityProviders',
  '/iam/v1/rolebindings',
  '/iam/v1/roles',
  '/registry/v1/repos',
]

const ORGANIZATION = '588391a69873a06cb99a4ed5a59102644f751ea4'

/** Requests of different shapes. */
const WAYS = [
  '',
  'limit=3',
  'limit=500',
  'limit=-1',
  'page=1&page_size=3',
  'order_by=name',
  'order_by=name desc',
  `uidp.children_of=${ORGANIZATION}`,
]

const CALLERS = 150

/** Wrong answers of v2: to every list of roles, and to one kind of request for groups. */
export const PLANTED = [
  { match: 'GET /iam/v2/roles', change: { at: '/roles/0/description', to: 'planted' } },
  { match: `GET /iam/v2/groups/${ORGANIZATION}`, change: { at: '/description', to: 'planted' } },
]

/** Draws reads: every third repeats one of the last thousand, at any replica. */
export function randomReads(count: number, seed: number): readonly RandomRead[] {
  const random = seeded(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const kinds = LISTS.flatMap((list) => WAYS.map((way) => (way === '' ? list : `${list}?${encodeURI(way)}`)))
  kinds.push(`/iam/v1/groups?id=${ORGANIZATION}`)
  const reads: RandomRead[] = []
  while (reads.length < count) {
    const isRepeat = reads.length > 0 && random() < 1 / 3
    const { path, token } = isRepeat
      ? pick(reads.slice(-1000))
      : { path: pick(kinds), token: `demo-owner-${Math.floor(random() * CALLERS)}` }
    reads.push({ path, token, replica: Math.floor(random() * 3) })
  }
  return reads
}
