import * as make from '../../expect.ts'
import { anything, items, like, ok, refused, same, shows, text, time } from '../../expect.ts'
import * as shape from '../../shapes.ts'
import type { Case } from '../../target.ts'

const PROVIDERS = '/iam/v1/identityProviders'
const MISSING = '0'.repeat(16)

const token = like(/^cgscim_[0-9a-f]{64}$/)

/** facts §3.6 */
export const providers: readonly Case[] = [
  shows(
    'identity providers: create, read, replace',
    ['iam.identity_providers.create', 'iam.identity_providers.list', 'iam.identity_providers.update'],
    async (api) => {
      const viewer = (await make.builtIn(api, 'viewer')).id
      const editor = (await make.builtIn(api, 'editor')).id
      const made = await make.provider(api, viewer, { description: 'words' })
      const expected = shape.provider(api.organization, viewer, { id: made.id, name: api.name(), description: 'words' })
      ok(api, { status: 200, type: null, body: made }, expected)
      ok(api, await api.get(PROVIDERS, { id: made.id }), { items: [expected] })
      ok(api, await api.get(PROVIDERS, { name: api.name() }), { items: [expected] })
      ok(api, await api.get(PROVIDERS, { id: made.id, name: 'other' }), { items: [] })
      const path = `${PROVIDERS}/${made.id}`
      const next = { issuer: 'https://next.example', client_id: 'n', groups_claim: 'groups', pkce_enabled: true }
      const shown = shape.shownOidc({ ...next, additional_scopes: [] })
      const replaced = await api.put(path, { name: api.name(), default_role: editor, oidc: next })
      ok(api, replaced, shape.provider(api.organization, editor, { name: api.name(), description: '', oidc: shown }))
      const read = items(await api.get(PROVIDERS, { id: made.id }))[0]
      const written = await api.send({ method: 'PUT', path, text: JSON.stringify(read) })
      ok(api, written, shape.provider(api.organization, editor, { name: api.name(), oidc: shown }))
      // The stored secret still exists: without it, v1 would refuse to switch PKCE off.
      const off = await api.otherwise.put(path, { name: api.name(), default_role: editor, oidc: { ...next, pkce_enabled: false } })
      ok(
        api,
        off,
        shape.provider(api.organization, editor, {
          name: api.name(),
          oidc: shape.shownOidc({ ...next, additional_scopes: [], pkce_enabled: false }),
        }),
      )
    },
  ),
  shows(
    'identity providers: the correlation rule is for ever',
    ['iam.identity_providers.create', 'iam.identity_providers.update'],
    async (api) => {
      const viewer = (await make.builtIn(api, 'viewer')).id
      const oidc = { ...make.oidc, correlation_rule: 'CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID' }
      const made = await make.provider(api, viewer)
      const rule = made.oidc[api.dialect === 'published' ? 'correlationRule' : 'correlation_rule']
      const path = `${PROVIDERS}/${made.id}`
      const body = { name: api.name(), default_role: viewer, oidc: { ...make.oidc, correlation_rule: rule } }
      ok(api, await api.put(path, body), shape.provider(api.organization, viewer, { name: api.name() }))
      refused(await api.put(path, { ...body, oidc }), 3)
    },
  ),
  shows(
    'identity providers: refusals',
    ['iam.identity_providers.create', 'iam.identity_providers.update', 'iam.identity_providers.delete'],
    { roles: ['viewer'] },
    async (api) => {
      const viewer = (await make.builtIn(api, 'viewer')).id
      const parent = (await make.folder(api)).id
      const full = { name: api.name(), default_role: viewer, oidc: make.oidc }
      refused(await api.post(`${PROVIDERS}/${parent}`, full), 3, /parent id must be an organization \(root group\)/)
      refused(await api.post(`${PROVIDERS}/${api.organization}`, { ...full, name: 'Upper' }), 3, /^Invalid argument: name: /)
      refused(await api.post(`${PROVIDERS}/${api.organization}`, { ...full, oidc: { ...make.oidc, issuer: '' } }), 3)
      refused(await api.put(`${PROVIDERS}/${api.organization}/${MISSING}`, full), 5)
      const { id } = await make.provider(api, viewer)
      refused(await api.put(`${PROVIDERS}/${id}`, { name: api.name(), default_role: viewer }), 3)
      refused(await api.put(`${PROVIDERS}/${id}`, { ...full, oidc: { issuer: make.oidc.issuer } }), 3)
      refused(await api.as('viewer').post(`${PROVIDERS}/${api.organization}`, full), 7)
      refused(await api.as('viewer').put(`${PROVIDERS}/${api.organization}/${MISSING}`, full), 7)
      refused(await api.as('viewer').delete(`${PROVIDERS}/${api.organization}/${MISSING}`), 7)
      ok(api, await api.delete(`${PROVIDERS}/${api.organization}/${MISSING}`), {})
    },
  ),
  shows(
    'identity providers: the life of a SCIM token',
    [
      'iam.identity_providers.generate_scim_token',
      'iam.identity_providers.regenerate_scim_token',
      'iam.identity_providers.revoke_scim_token',
      'iam.identity_providers.set_scim_enabled',
      'iam.identity_providers.list',
    ],
    { roles: ['viewer'] },
    async (api) => {
      const { id } = await make.provider(api, (await make.builtIn(api, 'viewer')).id)
      const path = `${PROVIDERS}/${id}`
      const base = { identity_provider_id: id, endpoint_url: text, etag: text }
      refused(await api.post(`${path}:regenerateScimToken`, { etag: 'x' }), 5)
      refused(await api.as('viewer').post(`${path}:generateScimToken`, {}), 7)
      const far = { expire_time: '2026-12-31T00:00:00Z', never_expires: true }
      refused(await api.post(`${path}:generateScimToken`, far), 3)
      const first = ok(api, await api.post(`${path}:generateScimToken`), { ...base, token, expire_time: time })
      refused(await api.post(`${path}:generateScimToken`, {}), 9)
      const scim = api.member(items(await api.get(PROVIDERS, { id }))[0], 'scim')
      same([scim.enabled, scim.etag], [false, first.etag], 'SCIM as the list shows it')
      refused(await api.post(`${path}:regenerateScimToken`, {}), 3)
      refused(await api.post(`${path}:regenerateScimToken`, { etag: 'stale' }), 10)
      const again = await api.post(`${path}:regenerateScimToken`, { etag: first.etag, overlap: '60s', never_expires: true })
      const second = ok(api, again, { ...base, token, expire_time: null, previous_token_expire_time: time, requested_overlap: '60s' })
      const off = await api.otherwise.post(`${path}:setScimEnabled`, { etag: second.etag, enabled: false })
      const third = ok(api, off, { identity_provider_id: id, enabled: false, etag: text })
      await api.post(`${path}:setScimEnabled`, { etag: third.etag, enabled: true })
      ok(api, await api.post(`${path}:revokeScimToken`, {}), { identity_provider_id: id, etag: text, enabled: anything, revoke_time: time })
      await api.get(PROVIDERS, { id })
      await api.get(PROVIDERS, { 'uidp.ids': id })
    },
  ),
]
