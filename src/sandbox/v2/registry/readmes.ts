import { requireCapability } from '../../auth/rights/authorize.ts'
import { type Ask, callerOf, ok, type Route } from '../../http/route.ts'
import { decode } from '../../messages/decode.ts'
import { applyMask, maskOf } from '../../messages/field-mask.ts'
import { type Message, outputText, text } from '../../messages/message.ts'
import { render } from '../../messages/render.ts'
import { violations } from '../../messages/validate.ts'
import { invalidArgument } from '../../status.ts'
import { timestamp } from '../../world/clock.ts'
import type { Readme } from '../../world/registry-model.ts'
import type { World } from '../../world/world.ts'
import { existing, uidParam } from '../reads.ts'
import { repos } from './repos.ts'

/** Elements that run code, event handlers and script links: the parts of a text that a sanitizer would remove. */
const UNSAFE_HTML = /<\s*(?:\/\s*)?(?:script|iframe|object|embed|style|form)\b|<[^<>]*\son[a-z]+\s*=|javascript:/i

export const readmeMessage: Message = {
  name: 'chainguard.platform.registry.v2.RepoReadme',
  fields: {
    uid: outputText,
    content: text({ check: (content: string) => (UNSAFE_HTML.test(content) ? 'content must not hold unsafe HTML' : undefined) }),
  },
}

const readmeOf = (world: World, uid: string): Readme => world.store.readmes.get(uid) ?? { uid, content: '' }

const get = (ask: Ask, world: World) => {
  const uid = uidParam(ask)
  requireCapability(world, callerOf(ask), 'repo.list', uid)
  existing(repos, world, uid)
  return ok(render(readmeMessage, readmeOf(world, uid)))
}

const patch = (ask: Ask, world: World) => {
  const uid = uidParam(ask)
  requireCapability(world, callerOf(ask), ['repo.update', 'repo.internal.admin'], uid)
  const mask = maskOf(readmeMessage, ask.query.text('update_mask'), ask.body)
  const input = decode(readmeMessage, ask.body)
  const repo = existing(repos, world, uid)
  if (mask.length === 0) return ok(render(readmeMessage, readmeOf(world, uid)))
  const readme = applyMask(readmeMessage, readmeOf(world, uid), input, mask)
  const found = violations(readmeMessage, readme)
  if (found.length > 0) invalidArgument(found)
  world.store.readmes.put(readme)
  if (world.options.readmeMovesRepo) world.store.repos.put({ ...repo, updateTime: timestamp(world.clock) })
  return ok(render(readmeMessage, readme))
}

const template = '/registry/v2/repos/{uid=**}/readme'

/** The readme, a sub-resource of a repo. Writing it requires a capability that no customer role has (semantics §3.10). */
export const readmeRoutes: readonly Route[] = [
  { method: 'GET', template, auth: 'required', handle: get },
  { method: 'PATCH', template, auth: 'required', handle: patch },
]
