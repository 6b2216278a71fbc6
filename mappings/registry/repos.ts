import { isSaid } from '../../src/errors.ts'
import {
  ask,
  askAll,
  asText,
  type Env,
  flagParam,
  type JsonObject,
  list,
  message,
  type Operation,
  ok,
  operation,
  type Plan,
  patch,
  readPage,
  remove,
  scope,
  text,
  told,
  typed,
  uidInPath,
  uidOf,
  type V1Request,
  v2Query,
  WITHHELD,
} from '../../src/tables/language.ts'
import { halfDone, README_CALLS, readmeIn, storedReadme, withReadmes, writeReadme } from './readme.ts'
import { repo } from './repo.ts'

/** v2 has no such switch: the plan reads it and sends nothing (facts §4.1). */
const preventExisting = {
  prevent_existing: { ...flagParam(''), made: 'v2 never updates on create: it answers ALREADY_EXISTS for a name that is there' },
}

export const repoOperations: readonly Operation[] = [
  list('registry.repos.list', 'GET /registry/v1/repos', repo, {
    query: { ...scope, name: 'name' },
    byId: 'id',
    enrich: withReadmes,
    calls: [README_CALLS.read],
  }),
  operation('registry.repos.create', 'POST /registry/v1/repos/{parent_id=**}', {
    kind: 'composed',
    calls: [
      'POST /registry/v2/repos/{parent_id}',
      README_CALLS.write,
      'DELETE /registry/v2/repos/{id}',
      'GET /registry/v2/repos',
      'PATCH /registry/v2/repos/{id}',
      README_CALLS.read,
    ],
    params: preventExisting,
    request: repo,
    answer: repo,
    readBack: { resource: repo, named: { answer: 'id' } },
    plan: createRepo,
  }),
  operation('registry.repos.update', 'PUT /registry/v1/repos/{id=**}', {
    kind: 'composed',
    calls: ['GET /registry/v2/repos/{id}', README_CALLS.read, README_CALLS.write, 'PATCH /registry/v2/repos/{id}'],
    request: repo,
    answer: repo,
    mask: repo.mask,
    readBack: { resource: repo, named: { param: 'id' } },
    *plan({ params, body }, env) {
      return ok(yield* replaceRepo(params.id ?? '', body, env))
    },
  }),
  remove('registry.repos.delete', 'DELETE /registry/v1/repos/{id=**}', repo, 'below'),
]

/**
 * v1's create updates a repo of the same name unless `prevent_existing` is set; v2's answers ALREADY_EXISTS (facts §24.10).
 * The repo is written before its readme, because v2 validates no readme without a repo.
 */
function* createRepo({ params, query, body }: V1Request, env: Env): Plan {
  const parent = params.parent_id ?? ''
  const readme = readmeIn(body) ?? ''
  const mayUpdate = v2Query(preventExisting, query)[0]?.[1] !== 'true'
  // A new repo has nothing to repeat. One that is there may have the very values.
  const restated = mayUpdate && repo.restates(body) ? yield* findRepo(parent, named.read(body)) : undefined
  if (restated) return ok(yield* replaceRepo(told(uidOf(restated)), body, env, restated))
  const fields = repo.read(body)
  let created: JsonObject
  try {
    const path = parent === '' ? repo.v2 : `${repo.v2}/${uidInPath(parent, 'parent_id')}`
    created = yield* ask({ method: 'POST', path, query: [], body: fields }, repo)
  } catch (error) {
    const existing = mayUpdate && isSaid(error, 'ALREADY_EXISTS') ? yield* findRepo(parent, fields) : undefined
    if (!existing) throw error
    return ok(yield* replaceRepo(told(uidOf(existing)), body, env))
  }
  if (readme !== '') {
    try {
      yield* writeReadme(uidOf(created), readme)
    } catch (error) {
      if (isSaid(error, ...REFUSALS) && (yield* isUndone(uidOf(created)))) throw error
      throw halfDone(error, `the repo was created with id ${uidOf(created)}, but without its readme`)
    }
  }
  return ok(repo.show[env.dialect]({ ...created, content: readme }))
}

/** Refusals of a readme that a retry would meet again. After any other failure the readme may have been written. */
const REFUSALS = ['INVALID_ARGUMENT', 'PERMISSION_DENIED', 'FAILED_PRECONDITION'] as const

/**
 * Deletes the repo that was just created: a refused create leaves nothing behind in v1. Returns false if that fails, as it does without
 * repo.delete. If the proxy ends between the two calls, the client gets no answer, and the repo stays without its readme.
 */
function* isUndone(uid: string): Plan<boolean> {
  const [outcome] = yield* askAll([{ method: 'DELETE', path: `${repo.v2}/${uidInPath(uid, 'id')}`, query: [] }])
  return outcome?.ok === true
}

/** The name in a body, before the rest of it is read. */
const named = message('repo name', { name: text('name') })

/** Returns the repo with this name directly below `parent`. */
function* findRepo(parent: string, { name }: JsonObject): Plan<JsonObject | undefined> {
  if (parent === '' || asText(name) === '') return undefined
  const query: [string, string][] = [
    ['uidp.children_of', parent],
    ['name', asText(name)],
  ]
  const { rows } = yield* readPage({ path: repo.v2, plural: repo.plural, order: repo.order, row: typed(repo), query }, 2, [])
  return rows.length === 1 ? rows[0] : undefined
}

/**
 * Replaces a repo as v1's PUT does: first its readme if that changes, then the repo.
 * The readme is the half that can be refused (facts §13.6); nothing is written then. A member that v2 sets itself may be repeated: the repo
 * is read before, unless it is `known`.
 */
function* replaceRepo(uid: string, body: unknown, env: Env, known?: JsonObject): Plan<JsonObject> {
  const isAsked = known === undefined && repo.restates(body)
  const stored = isAsked ? yield* ask({ method: 'GET', path: `${repo.v2}/${uidInPath(uid, 'id')}`, query: [] }, typed(repo)) : known
  const fields = repo.read(body, stored)
  const { content, replaced } = yield* replaceReadme(uid, readmeIn(body), env)
  try {
    const updated = yield* ask(patch(repo, uid, 'id', fields, env), repo)
    return repo.show[env.dialect]({ ...updated, content })
  } catch (error) {
    throw replaced ? halfDone(error, 'the readme had already been replaced') : error
  }
}

/**
 * Writes the readme if it differs from the stored one. In a v1 PUT, an omitted member means an empty one. But a caller who may not write
 * readmes in v2 did not ask for that: the stored text stays. The answer shows it, or omits it if the caller may not read it. With
 * `registry.readmes` off, clients never saw the text, so an empty one means nothing.
 */
function* replaceReadme(uid: string, wanted: string | undefined, env: Env): Plan<{ content: unknown; replaced: boolean }> {
  const stored = yield* storedReadme(uid)
  const content = wanted ?? ''
  const kept = { content: stored ?? WITHHELD, replaced: false }
  if (content === stored || (content === '' && (stored === undefined || !env.readmes))) return kept
  try {
    yield* writeReadme(uid, content)
    return { content, replaced: true }
  } catch (error) {
    if (!isSaid(error, 'PERMISSION_DENIED')) throw error
    if (content === '') return kept
    const remedy =
      stored === undefined ? 'send none, or be let read it (repo.list) and send the stored one' : 'send the stored readme or none'
    throw halfDone(error, `v2 keeps readme writes to repo.internal.admin; ${remedy}; nothing was written`)
  }
}
