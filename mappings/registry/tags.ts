import { invalidArgument } from '../../src/errors.ts'
import {
  ask,
  asText,
  flag,
  type JsonObject,
  list,
  negated,
  type Operation,
  ok,
  operation,
  type Plan,
  parentUid,
  readOnly,
  readPage,
  remove,
  resource,
  scope,
  text,
  texts,
  time,
  timeParam,
  typed,
  uidInPath,
} from '../../src/tables/language.ts'

export const tag = resource('tag', {
  v2: '/registry/v2/tags',
  plural: 'tags',
  stamps: ['updated_at'],
  fields: {
    id: readOnly('uid'),
    name: text('name'),
    digest: text('digest'),
    last_updated: readOnly(time('updateTime')),
    deprecated: flag('deprecated'),
    bundles: texts('bundles'),
  },
})

/** v1 shows every tag by default; v2 hides these three kinds by default (facts §4.2). */
export const shownKinds = {
  exclude_referrers: negated('include_referrers'),
  exclude_dates: negated('include_dates'),
  exclude_epochs: negated('include_epochs'),
}

const EVERY_KIND: readonly (readonly [string, string])[] = Object.values(shownKinds).map(({ v2 }) => [v2, 'true'])

export const tagOperations: readonly Operation[] = [
  list('registry.tags.list', 'GET /registry/v1/tags', tag, {
    query: { ...scope, name: 'name', digest: 'digest', updated_since: timeParam('updated_since'), ...shownKinds },
    byId: 'id',
  }),
  operation('registry.tags.create', 'POST /registry/v1/tags/{repo_id=**}', {
    calls: ['POST /registry/v2/tags/{repo_id}', 'GET /registry/v2/tags'],
    request: tag,
    answer: tag,
    readBack: { resource: tag, named: { answer: 'id' } },
    *plan({ params, body }, env) {
      const fields = tag.read(body)
      const repo = params.repo_id ?? ''
      const complete = fields.digest ? fields : { ...fields, ...(yield* storedDigest(repo, fields)) }
      return ok(tag.show[env.dialect](yield* createOrUpdate(repo, complete)))
    },
  }),
  operation('registry.tags.update', 'PUT /registry/v1/tags/{id=**}', {
    kind: 'emulated',
    // facts §4.2
    because: 'v2 has no tag update: the tag is read and created again under its name, so it cannot be renamed',
    calls: ['GET /registry/v2/tags/{id}', 'POST /registry/v2/tags/{repo_id}'],
    request: tag,
    answer: tag,
    readBack: { resource: tag, named: { param: 'id' } },
    *plan({ params, body }, env) {
      const uid = params.id ?? ''
      const fields = tag.read(body)
      const current = yield* ask({ method: 'GET', path: `${tag.v2}/${uidInPath(uid, 'id')}`, query: [] }, typed(tag))
      if (fields.name && fields.name !== current.name) {
        throw invalidArgument({
          field: 'name',
          description: `cannot be changed: v2 has no way to rename a tag; create "${fields.name}" and delete this one`,
        })
      }
      const replaced = { deprecated: false, bundles: [], ...fields, name: current.name, digest: fields.digest || current.digest }
      return ok(tag.show[env.dialect](yield* createOrUpdate(parentUid(uid) ?? '', replaced)))
    },
  }),
  remove('registry.tags.delete', 'DELETE /registry/v1/tags/{id=**}', tag),
]

/** v2's create updates a tag of the same name and keeps its uid (facts §4.2). */
function* createOrUpdate(repo_id: string, body: JsonObject): Plan<JsonObject> {
  return yield* ask({ method: 'POST', path: `${tag.v2}/${uidInPath(repo_id, 'repo_id')}`, query: [], body }, tag)
}

/** v1 clients create tags without a digest to keep the stored one; v2 requires a digest (facts §24.9). */
function* storedDigest(repo: string, { name }: JsonObject): Plan<JsonObject> {
  if (!name || !repo) return {}
  const query = [['uidp.children_of', repo], ['name', asText(name)], ...EVERY_KIND] as const
  const { rows } = yield* readPage({ path: tag.v2, plural: tag.plural, order: tag.order, row: typed(tag), query }, 1, [])
  return rows[0]?.digest ? { digest: rows[0].digest } : {}
}
