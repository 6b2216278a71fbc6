import type { Answer, Route } from '../../http/route.ts'
import { scimRoutes } from '../../v2/iam/scim/scim-routes.ts'
import { decode } from '../decode.ts'
import { encode } from '../encode.ts'
import { scimMessages } from '../messages/providers.ts'
import type { Operation } from '../operation.ts'

const isVerb = (verb: string): verb is keyof typeof scimMessages => Object.hasOwn(scimMessages, verb)

/** Runs the service's own action with one name translated, the provider's: the versions differ in that alone (facts §3.6). */
function operationOf({ template, handle }: Route): Operation {
  const verb = template.slice(template.lastIndexOf(':') + 1)
  if (!isVerb(verb)) throw new Error(`v1 has no message for ${template}`)
  const { request, answer } = scimMessages[verb]
  return {
    method: 'POST',
    template: `/iam/v1/identityProviders/{identity_provider_id=**}:${verb}`,
    message: answer,
    answer: (ask, world) => {
      const params = { identity_provider_uid: ask.params['identity_provider_id'] ?? '' }
      const { body } = handle({ ...ask, params, body: decode(ask.body, request) }, world) as Answer
      return encode(body as Readonly<Record<string, unknown>>, answer, world.options.v1Dialect)
    },
  }
}

/** The SCIM token of a provider: generate, regenerate, revoke, switch (facts §3.6). */
export const scimOperations: readonly Operation[] = scimRoutes.map(operationOf)
