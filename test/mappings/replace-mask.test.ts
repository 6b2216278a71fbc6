import { expect, it } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import { createRouter } from '../../src/serve/route.ts'
import { play } from './transcript.ts'
import { transcripts } from './transcripts.ts'

/** The members that v1 writes of each resource that a PUT replaces as a whole (facts §13.2). */
const KNOWN: Readonly<Record<string, string>> = {
  'iam.account_associations.update': 'amazon,google,chainguard,azure,name,description,github',
  'iam.role_bindings.update': 'identity_uid,role_uid',
  'iam.roles.update': 'name,description,capabilities',
  'registry.repos.create': 'name,catalog_tier,bundles,sync_config,custom_overlay,aliases,active_tags,description',
  'registry.repos.update': 'name,catalog_tier,bundles,sync_config,custom_overlay,aliases,active_tags,description',
}

const MASK = /updateMask=\*$/
const router = createRouter(mappings.flatMap((mapping) => mapping.operations))
const replacing = transcripts.filter(({ calls }) => calls.some(({ call }) => MASK.test(call)))

it.each(replacing.map((one) => [`${one.operation}: ${one.title}`, one] as const))(
  '%s: can name the members that v1 knows',
  async (_, one) => {
    const { calls } = await play({ ...one, settings: { ...one.settings, replaceMask: 'known' } }, router, 'specification')
    expect(calls.map(({ call }) => call)).toEqual(one.calls.map(({ call }) => call.replace(MASK, `updateMask=${KNOWN[one.operation]}`)))
  },
)

it('covers every operation that replaces a whole resource', () => {
  expect([...new Set(replacing.map(({ operation }) => operation))].sort()).toEqual(Object.keys(KNOWN))
})
