import { violations } from '../../messages/validate.ts'
import { alreadyExists, invalidArgument } from '../../status.ts'
import { readmeMessage } from '../../v2/registry/readmes.ts'
import { repos } from '../../v2/registry/repos.ts'
import { create } from '../../v2/writes.ts'
import type { Repo } from '../../world/registry-model.ts'
import type { Decoded } from '../decode.ts'
import { byName, listOperation } from '../list.ts'
import { repo } from '../messages/repos.ts'
import type { Operation } from '../operation.ts'
import { answerOf, createAct, deleteOperation, readBody, replace, replaceOperation, type Written } from '../writes.ts'

/** v1's readme is a member of its repo. A writer of the repo writes it too, and a body without it clears it (facts §13.6). */
const readmeOf = (body: Decoded): string => String(body['readme'] ?? '')

const written: Written<Repo> = {
  resource: repos,
  path: '/registry/v1/repos',
  message: repo,
  view: (row, { store }) => ({ ...row, readme: store.readmes.get(row.uid)?.content ?? '' }),
  accept: (body) => {
    const found = violations(readmeMessage, { content: readmeOf(body) })
    if (found.length > 0) invalidArgument(found.map(({ description }) => ({ field: 'readme', description })))
    return body
  },
  beside: (uid, body, { store }) => store.readmes.put({ uid, content: readmeOf(body) }),
}

/** Every member that a v1 client writes. A PUT resets the missing ones (facts §13). */
const REPLACED = ['name', 'description', 'catalogTier', 'bundles', 'aliases', 'activeTags', 'sync_config', 'customOverlay']

/** A create replaces an existing repo unless the client requires a new one (facts §4.1). */
const createRepo: Operation = {
  method: 'POST',
  template: `${written.path}/{parent_id=**}`,
  message: repo,
  answer: (ask, world) => {
    const act = createAct(ask, world, repos, 'parent_id')
    const mustBeNew = ask.query.flag('prevent_existing')
    const body = readBody(written, ask)
    const found = world.store.repos.named(act.parent, String(body['name'] ?? ''))[0]
    if (found && mustBeNew) alreadyExists('registry.Repo', found.name)
    const row = found ? replace(repos, ask, world, found.uid, body, REPLACED) : create(repos, act, body)
    return answerOf(written, row, body, world)
  },
}

/** Repos (facts §4.1). */
export const repoOperations: readonly Operation[] = [
  listOperation({ ...written, idParameter: 'id', scoped: true, filters: byName }),
  createRepo,
  replaceOperation(written, () => REPLACED),
  deleteOperation(written),
]
