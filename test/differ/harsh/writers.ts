import { setTimeout as delay } from 'node:timers/promises'
import type { OneCaller } from '../stage/differ.ts'

/** Sends a request to one service, or through Crosswalk. */
export type Send = (method: string, path: string, body?: unknown) => Promise<{ readonly status: number; readonly text: string }>

/** What writers share. */
export interface Scene {
  readonly organization: string
  /** A role that somebody holds, so that lists of bindings show it. */
  readonly role: string
  readonly identity: string
  readonly random: () => number
  /** False as soon as all writers shall end. */
  readonly goesOn: () => boolean
  /** Counts the writes that were answered with success. */
  wrote(): void
}

/** Most milliseconds between two writes of one resource. */
const GAP = 25

interface Kind {
  readonly path: string
  readonly body: (scene: Scene, name: string) => object
  readonly change?: (scene: Scene, name: string) => object
}

const described = (_: Scene, name: string) => ({ name, description: 'made' })
const changed = (_: Scene, name: string) => ({ name, description: 'changed' })
const ROLES = { v1: { capabilities: ['groups.list'] }, v2: { capabilities: ['CAP_IAM_GROUPS_LIST'] } }

const V1_KINDS: readonly Kind[] = [
  { path: '/iam/v1/groups', body: described, change: changed },
  { path: '/registry/v1/repos', body: described, change: changed },
  {
    path: '/iam/v1/roles',
    body: (...given) => ({ ...described(...given), ...ROLES.v1 }),
    change: (...given) => ({ ...changed(...given), ...ROLES.v1 }),
  },
  { path: '/iam/v1/identities', body: (_, name) => ({ name, claim_match: { issuer: 'https://issuer.example', subject: name } }) },
  { path: '/iam/v1/group_invites', body: ({ role }) => ({ ttl: '3600s', role }) },
  { path: '/events/v1/subscriptions', body: (_, name) => ({ sink: `https://localhost:9/${name}` }) },
]

const V2_KINDS: readonly Kind[] = [
  { path: '/iam/v2/groups', body: described },
  { path: '/registry/v2/repos', body: described },
  { path: '/iam/v2/roles', body: (...given) => ({ ...described(...given), ...ROLES.v2 }) },
]

/** Creates a resource, often changes it, and deletes it, again and again. */
export async function makesAndDeletes(send: Send, version: 'v1' | 'v2', scene: Scene): Promise<void> {
  const kinds = version === 'v1' ? V1_KINDS : V2_KINDS
  while (scene.goesOn()) {
    const { path, body, change } = kinds[Math.floor(scene.random() * kinds.length)]!
    const name = `short-${version}-${Math.floor(scene.random() * 1e9)}`
    const made = await send('POST', `${path}/${scene.organization}`, body(scene, name))
    if (made.status !== 200) throw new Error(`POST ${path}: ${made.status} ${made.text}`)
    scene.wrote()
    const { id, uid = id } = JSON.parse(made.text) as { id?: string; uid?: string }
    await pause(scene, GAP)
    if (change && scene.random() < 0.5) {
      await send('PUT', `${path}/${uid}`, change(scene, name))
      scene.wrote()
      await pause(scene, GAP)
    }
    await send('DELETE', `${path}/${uid}`)
    scene.wrote()
    await pause(scene, 6 * GAP)
  }
}

/** Describes the role otherwise, and as before, by turns at v1 and at v2. */
export async function renamesThereAndBack(send: Send, scene: Scene): Promise<void> {
  for (let nth = 0; scene.goesOn(); nth++) {
    const version = nth % 2 === 0 ? 'v1' : 'v2'
    for (const description of ['there', 'back']) {
      const body = { name: 'flip', description, ...ROLES[version] }
      const answer = await send(version === 'v1' ? 'PUT' : 'PATCH', `/iam/${version}/roles/${scene.role}`, body)
      if (answer.status !== 200) throw new Error(`the role was not renamed: ${answer.status} ${answer.text}`)
      scene.wrote()
      await pause(scene, GAP)
    }
    await pause(scene, 4 * GAP)
  }
}

/** Binds the identity to the role and takes it back, again and again. */
export async function bindsAndUnbinds(send: Send, scene: Scene): Promise<void> {
  while (scene.goesOn()) {
    const made = await send('POST', `/iam/v1/rolebindings/${scene.organization}`, { identity: scene.identity, role: scene.role })
    if (made.status === 200) {
      await pause(scene, GAP)
      await send('DELETE', `/iam/v1/rolebindings/${(JSON.parse(made.text) as { id: string }).id}`)
      scene.wrote()
    }
    await pause(scene, 4 * GAP)
  }
}

/** Sends past Crosswalk. */
export function straight(url: string, token: string): Send {
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(url + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
    return { status: answer.status, text: await answer.text() }
  }
}

export function through(caller: OneCaller): Send {
  return (method, path, body) => caller.send(method, path, body)
}

function pause({ random }: Scene, most: number): Promise<void> {
  return delay(random() * most)
}
