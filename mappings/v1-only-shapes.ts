import { nothing, object, shape, type V1OnlyShape } from '../src/tables/language.ts'
import { group } from './iam/groups.ts'
import { role } from './iam/roles.ts'
import { librariesShapes } from './libraries/v1-only-shapes.ts'
import { registryShapes } from './registry/v1-only-shapes.ts'
import { vulnerabilitiesShapes } from './vulnerabilities/v1-only-shapes.ts'

const granted = shape('who am i capabilities', { group: object('', group.fields), role: object('', role.fields), capabilities: ['text'] })
const profile = shape('who am i profile', { name: 'text', given_name: 'text', family_name: 'text', picture: 'text' })

const authShapes: Readonly<Record<string, V1OnlyShape>> = {
  'auth.auth.validate': {
    answer: shape('who am i', {
      subject: 'text',
      issuer: 'text',
      audience: ['text'],
      issued_at: 'time',
      expiry: 'time',
      email: 'text',
      capabilities: [granted],
      profile,
    }),
  },
  'auth.auth.delete': { answer: nothing },
  'auth.auth.register': {
    request: shape('registration request', { code: 'text', identity_id: 'text' }),
    answer: shape('session', { identity: 'text', group: 'text' }),
  },
}

/** What the published contract says of the operations that v1 alone serves, by their ids. It does not hold the other domains. */
export const v1OnlyShapes: Readonly<Record<string, V1OnlyShape>> = {
  ...registryShapes,
  ...vulnerabilitiesShapes,
  ...librariesShapes,
  ...authShapes,
}
