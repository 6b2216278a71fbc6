import { builtInRoleUid } from '../../auth/rights/built-in-roles.ts'
import { PUBLIC_CATALOG_UID } from '../../public-catalog.ts'
import type { Role, RoleBinding } from '../../world/iam-model.ts'
import type { ClaimMatch, Identity } from '../../world/identity-model.ts'
import type { Rows } from '../dataset.ts'
import { dated, dayAfter, fixtureDigest, fixtureUid } from '../fixture.ts'
import { acmeDev, demoGroups, exampleCom, payments } from '../groups.ts'
import { binding, bindUsers, builtInRoleRows, userRows, userUid } from '../users.ts'

const CREATED = '2026-01-12T10:30:00.000Z'
const DAY_MS = 24 * 60 * 60 * 1000

const identity = (parent: string, name: string, relationship: Partial<Identity>): Identity => ({
  uid: fixtureUid(parent, `identity ${name}`),
  name,
  description: '',
  email: '',
  emailUnverified: '',
  company: '',
  lastSeenTime: CREATED,
  ...dated(CREATED),
  ...relationship,
})

const claims = (members: Partial<ClaimMatch>): Partial<Identity> => ({ claimMatch: { claims: {}, claimPatterns: {}, ...members } })

/** A key without a known private half: the pull token can be listed but not used. */
const PULL_TOKEN_KEYS = JSON.stringify({
  keys: [
    {
      kty: 'OKP',
      crv: 'Ed25519',
      kid: 'pull-token-prod',
      x: Buffer.from(fixtureDigest('pull token').slice(7), 'hex').toString('base64url'),
    },
  ],
})

const ciBot = identity(exampleCom.uid, 'ci-bot', {
  description: 'Builds of the main branch',
  ...claims({
    issuer: 'https://token.actions.githubusercontent.com',
    subject: 'repo:my-org@123456/my-repo@654321:ref:refs/heads/main',
  }),
})
const gitlabRunner = identity(
  exampleCom.uid,
  'gitlab-runner',
  claims({ issuer: 'https://gitlab.example.com', subjectPattern: 'project_path:platform/.*' }),
)
const pullToken = (now: number): Identity =>
  identity(exampleCom.uid, 'pull-token-prod', {
    staticKeys: {
      issuer: 'https://pulltoken.example.com',
      subject: 'pull-token-prod',
      issuerKeys: PULL_TOKEN_KEYS,
      expirationTime: new Date(now + 30 * DAY_MS).toISOString(),
      audiences: [],
    },
  })
const ecrMirror = identity(exampleCom.uid, 'ecr-mirror', {
  awsIdentity: {
    awsAccount: '123456789012',
    arnPattern: '^arn:aws:sts::123456789012:assumed-role/mirror/.*$',
    userIdPattern: '^AROA.*:mirror$',
  },
})
const catalogSyncer = identity(exampleCom.uid, 'catalog-syncer', { servicePrincipal: 'SERVICE_PRINCIPAL_CATALOG_SYNCER' })
const ingester = identity(exampleCom.uid, 'ingester', { servicePrincipal: 'SERVICE_PRINCIPAL_INGESTER' })
const deployer = identity(
  payments.uid,
  'payments-deployer',
  claims({ issuer: 'https://token.actions.githubusercontent.com', subjectPattern: 'repo:payments/.*' }),
)

/** All users: the identity under which the public catalog is read (semantics §1). */
const allUsers: Identity = {
  ...identity(PUBLIC_CATALOG_UID, 'all-users', claims({ issuerPattern: '.*', subjectPattern: '.*' })),
  uid: `${PUBLIC_CATALOG_UID}/a033a6fabe0bfa0d`,
}

const tagWriter: Role = {
  uid: fixtureUid(exampleCom.uid, 'role tag-writer'),
  name: 'tag-writer',
  description: 'Writes tags of existing repos',
  capabilities: ['CAP_IAM_GROUPS_LIST', 'CAP_REPO_LIST', 'CAP_TAG_CREATE', 'CAP_TAG_LIST'],
  ...dated(CREATED),
}

const bindings = (pull: Identity): readonly RoleBinding[] => [
  ...bindUsers(exampleCom.uid, ['owner', 'editor', 'viewer']),
  ...bindUsers(acmeDev.uid, ['outsider']),
  binding(exampleCom.uid, ciBot.uid, builtInRoleUid('viewer')),
  binding(exampleCom.uid, pull.uid, builtInRoleUid('registry.pull')),
  binding(exampleCom.uid, gitlabRunner.uid, tagWriter.uid),
  binding(payments.uid, deployer.uid, builtInRoleUid('viewer')),
  binding(PUBLIC_CATALOG_UID, allUsers.uid, builtInRoleUid('registry.pull')),
]

const oktaUid = fixtureUid(exampleCom.uid, 'identity provider okta')

const providers: Rows = {
  identityProviders: [
    {
      uid: oktaUid,
      name: 'okta',
      description: 'Single sign-on of example.com',
      defaultRole: builtInRoleUid('viewer'),
      oidc: {
        issuer: 'https://example.okta.com',
        clientId: '0oa1demo',
        clientSecret: 'demo-client-secret',
        additionalScopes: ['email', 'profile'],
        groupsClaim: 'groups',
        correlationRule: 'CORRELATION_RULE_UNSPECIFIED',
        pkceEnabled: false,
      },
      ...dated(CREATED),
    },
  ],
  externalGroupRoleMappings: (['editor', 'viewer'] as const).map((role) => ({
    uid: fixtureUid(oktaUid, `mapping ${role}`),
    createTime: CREATED,
    identityProviderUid: oktaUid,
    externalGroupId: `${role}s`,
    roleUid: builtInRoleUid(role),
    scope: exampleCom.uid,
  })),
}

const invite = (label: string, email: string, expirationTime: string) => ({
  uid: fixtureUid(exampleCom.uid, `invite ${label}`),
  createTime: label === 'open' ? '2026-02-20T12:00:00.000Z' : '2026-01-15T12:00:00.000Z',
  roleUid: builtInRoleUid('viewer'),
  email,
  expirationTime,
  singleUse: email !== '',
  keyId: fixtureDigest(`invite ${label}`).slice(7, 39),
  code: Buffer.from(`invite ${label} ${fixtureDigest(label)}`).toString('base64'),
})

const agreements = (now: number): Rows => ({
  groupInvites: [
    invite('open', '', new Date(now + 7 * DAY_MS).toISOString()),
    invite('expired', 'dave@example.com', dayAfter('2026-01-15', 7)),
  ],
  accountAssociations: [
    {
      uid: exampleCom.uid,
      name: 'clouds',
      description: 'Every cloud of example.com',
      amazon: { account: '123456789012' },
      google: { projectId: 'example-prod', projectNumber: '987654321098' },
      chainguard: { serviceBindings: { CATALOG_SYNCER: catalogSyncer.uid, INGESTER: ingester.uid } },
      azure: { tenantId: fixtureUid('', 'tenant').slice(0, 32), clientIds: { CATALOG_SYNCER: 'client-1' } },
      github: { appInstallations: { '4242': { installations: [{ installationId: '777001', name: 'example-com' }] } } },
      ...dated(CREATED),
    },
  ],
  termsAcceptances: [
    {
      uid: `${exampleCom.uid}/guardener-tos.v1`,
      createTime: CREATED,
      docId: 'guardener-tos.v1',
      acceptedBy: userUid('owner'),
      orgUid: exampleCom.uid,
    },
  ],
})

/** The groups and bindings of the demo. Times that must not be past are relative to `now` (milliseconds). */
export const demoAccess = (now: number): readonly Rows[] => {
  const pull = pullToken(now)
  return [
    {
      groups: demoGroups,
      roles: [...builtInRoleRows, tagWriter],
      identities: [
        ...userRows(['owner', 'editor', 'viewer', 'outsider', 'admin']),
        ...[ciBot, gitlabRunner, pull, ecrMirror, ingester, catalogSyncer, deployer, allUsers],
      ],
      roleBindings: bindings(pull),
    },
    providers,
    agreements(now),
  ]
}
