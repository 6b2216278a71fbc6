import { builtInRoleUid } from '../auth/rights.ts'
import {
  type Advisory,
  type AdvisoryDocument,
  type AdvisoryEvent,
  type Artifact,
  type ArtifactVersion,
  type ClaimMatch,
  type CustomOverlay,
  type DocumentEvent,
  type Group,
  type Identity,
  PUBLIC_CATALOG_UID,
  type Repo,
  type Role,
  type RoleBinding,
  SOURCE_TYPES,
  type SourceType,
  type SyncConfig,
} from '../world/model.ts'
import {
  acmeDev,
  binding,
  bindUsers,
  builtInRoleRows,
  type Dataset,
  demoGroups,
  exampleCom,
  identityRow,
  MEMBERS,
  organization,
  payments,
  publicCatalog,
  type Rows,
  userRows,
  userUid,
} from './data.ts'
import {
  cveId,
  dated,
  dayAfter,
  fixtureDigest,
  fixtureUid,
  ghsaId,
  letteredId,
  lifeOf,
  PACKAGES,
  planImages,
  planTags,
  type Step,
  type Stream,
  type TagPlan,
  vulnerability,
} from './plans.ts'

const CREATED = '2026-01-12T10:30:00.000Z'
const DAY_MS = 24 * 60 * 60 * 1000

const identity = (parent: string, name: string, relationship: Partial<Identity>): Identity =>
  identityRow(fixtureUid(parent, `identity ${name}`), name, CREATED, relationship)

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
  ...bindUsers(exampleCom.uid, MEMBERS),
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
const demoAccess = (now: number): readonly Rows[] => {
  const pull = pullToken(now)
  return [
    {
      groups: demoGroups,
      roles: [...builtInRoleRows, tagWriter],
      identities: [...userRows, ...[ciBot, gitlabRunner, pull, ecrMirror, ingester, catalogSyncer, deployer, allUsers]],
      roleBindings: bindings(pull),
    },
    providers,
    agreements(now),
  ]
}

const FIRST_DAY = '2026-01-10'

/** The number of advisories. 8 packages and 11 histories meet in every pairing before one repeats. */
const ADVISORIES = 60
/** More than the advisories: vulnerabilities without an advisory have metadata as well. */
const VULNERABILITIES = 80

const AUTHORS = ['scanner@example.com', 'alice@example.com', 'bob@example.com'] as const
const REVIEWED: ReadonlySet<string> = new Set(['REVIEW_STATE_APPROVED', 'REVIEW_STATE_REQUEST_CHANGES', 'REVIEW_STATE_REJECTED'])

const event = (advisory: string, number: number, { says, review }: Step, step: number): AdvisoryEvent => ({
  uid: fixtureUid(advisory, `event ${step}`),
  createTime: dayAfter(FIRST_DAY, number / 2 + step),
  findings: step === 0 ? Buffer.from(JSON.stringify({ vulnerability: cveId(number) })).toString('base64') : '',
  author: AUTHORS[(number + step) % AUTHORS.length] ?? '',
  reviewer: REVIEWED.has(review) ? 'carol@example.com' : '',
  reviewState: review,
  issue: step === 0 ? '' : `https://issues.example.com/${number}`,
  ...says,
})

const packageOf = (number: number) => PACKAGES[number % PACKAGES.length] ?? PACKAGES[0]

const advisory = (parent: Group, number: number): Advisory => {
  const from = packageOf(number)
  const uid = fixtureUid(parent.uid, `advisory ${number}`)
  const events = lifeOf(from, number).map((step, at) => event(uid, number, step, at))
  const detailed = number % 4 !== 0
  return {
    uid,
    advisoryId: letteredId('CGA', `${parent.uid} ${number}`),
    createTime: dayAfter(FIRST_DAY, number / 2),
    updateTime: events.at(-1)?.createTime ?? dayAfter(FIRST_DAY, number / 2),
    author: AUTHORS[number % AUTHORS.length] ?? '',
    artifactName: from.name,
    artifactType: from.type,
    artifactArchitecture: number % 5 === 0 ? 'aarch64' : 'x86_64',
    componentName: detailed ? from.name : '',
    componentLocation: detailed ? `/usr/lib/${from.name}` : '',
    componentType: detailed ? from.type : '',
    aliases: [cveId(number), ghsaId(number)],
    events,
    legacyAdvisoryId: number % 3 === 0 ? `LEGACY-${number}` : '',
    severities: vulnerability(number).severities,
  }
}

type Detected = NonNullable<AdvisoryEvent['detection']>

/** The feed has other names for two members of a scan. */
const publishedScan = ({ subpackage, component, ...scan }: NonNullable<Detected['scanv1']>) => ({
  ...scan,
  subpackageName: subpackage,
  componentName: component,
})

const publishedFix = ({ note: _note, ...fix }: NonNullable<AdvisoryEvent['fixed']>) => fix

/** The feed's form of an event. It has no patches, no moved components and no notes on a fix (facts §7). */
const published = (from: AdvisoryEvent): DocumentEvent => ({
  timestamp: from.createTime,
  falsePositiveDetermination: from.falsePositiveDetermination,
  analysisNotPlanned: from.analysisNotPlanned,
  fixNotPlanned: from.fixNotPlanned,
  pendingUpstreamFix: from.pendingUpstreamFix,
  truePositiveDetermination: from.truePositiveDetermination,
  fixed: from.fixed && publishedFix(from.fixed),
  detection: from.detection && { ...from.detection, scanv1: from.detection.scanv1 && publishedScan(from.detection.scanv1) },
})

const isPublished = ({ reviewState, patched, componentLocationChanged }: AdvisoryEvent): boolean =>
  reviewState === 'REVIEW_STATE_APPROVED' && !patched && !componentLocationChanged

const document = (name: string, namespace: string, rows: readonly Advisory[]): AdvisoryDocument => ({
  uid: name,
  id: name,
  advisories: rows.map(({ advisoryId, events, aliases }) => ({
    id: advisoryId,
    events: events.filter(isPublished).map(published),
    aliases,
    packageNamespace: namespace,
  })),
})

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)

/** Advisories of `example.com`, three of `acme.dev` to prove isolation, and the public feed on the same packages. */
const demoAdvisories = (): Rows => {
  const own = numbers(ADVISORIES).map((number) => advisory(exampleCom, number))
  return {
    advisories: [...own, ...numbers(3).map((number) => advisory(acmeDev, number))],
    documents: PACKAGES.map(({ name, namespace }) =>
      document(
        name,
        namespace,
        own.filter(({ artifactName }) => artifactName === name),
      ),
    ),
    vulnerabilityMetadata: numbers(VULNERABILITIES).map(vulnerability),
  }
}

/** One subscription to a port of this machine, with or without a listener. */
const demoEvents: Rows = {
  subscriptions: [{ uid: fixtureUid(exampleCom.uid, 'subscription local'), sink: 'https://localhost:9443/events' }],
}

const PYTHON = `aiohttp alembic asyncpg attrs beautifulsoup4 black boto3 celery certifi cffi click cryptography django fastapi flask
  grpcio gunicorn httpx idna jinja2 lxml markupsafe numpy pandas pillow protobuf psycopg2 pydantic pyjwt pytest pyyaml redis requests
  scipy setuptools sqlalchemy torch tornado urllib3 werkzeug`.split(/\s+/)

const JAVA = `ch.qos.logback:logback-classic com.fasterxml.jackson.core:jackson-core com.fasterxml.jackson.core:jackson-databind
  com.google.code.gson:gson com.google.guava:guava com.h2database:h2 com.squareup.okhttp3:okhttp com.zaxxer:HikariCP
  commons-codec:commons-codec commons-io:commons-io io.grpc:grpc-core io.micrometer:micrometer-core io.netty:netty-handler
  jakarta.servlet:jakarta.servlet-api javax.inject:javax.inject joda-time:joda-time junit:junit org.apache.commons:commons-compress
  org.apache.commons:commons-lang3 org.apache.commons:commons-text org.apache.httpcomponents:httpclient org.apache.kafka:kafka-clients
  org.apache.logging.log4j:log4j-core org.eclipse.jetty:jetty-server org.hibernate:hibernate-core org.mockito:mockito-core
  org.postgresql:postgresql org.slf4j:slf4j-api org.springframework:spring-core org.yaml:snakeyaml`.split(/\s+/)

const FIRST_RELEASE = '2026-01-05'

/** Artifacts that have a version with backported fixes, upstream-only versions and CUDA builds. */
const REMEDIATED: ReadonlySet<string> = new Set(['django', 'pillow', 'requests', 'urllib3', 'org.yaml:snakeyaml', 'com.h2database:h2'])
const FROM_UPSTREAM: ReadonlySet<string> = new Set(['numpy', 'requests', 'org.apache.commons:commons-lang3'])
const CUDA: Readonly<Record<string, readonly string[]>> = { torch: ['12.6', '12.8'] }

type Release = { readonly version: string; readonly source: SourceType }

const [, BUILT, BACKPORTED, UPSTREAM] = SOURCE_TYPES

/** Twelve minor versions for each major one, so that 2.9 and 2.10 sort differently as texts and as numbers. */
const plainVersions = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${1 + Math.floor(index / 12)}.${index % 12}`)

/** Between 3 and 60, derived from the name. The best known library has enough to fill pages. */
const countOf = (name: string): number => (name === 'requests' ? 60 : 3 + (Number.parseInt(fixtureDigest(name).slice(7, 11), 16) % 58))

const releasesOf = (name: string): readonly Release[] => {
  const versions = plainVersions(countOf(name))
  const last = versions.at(-1) ?? ''
  return [
    ...versions.map((version) => ({ version, source: BUILT })),
    ...(REMEDIATED.has(name) ? [{ version: `${last}+cgr.1`, source: BACKPORTED }] : []),
    ...(FROM_UPSTREAM.has(name) ? ['0.8', '0.9'].map((version) => ({ version, source: UPSTREAM })) : []),
  ]
}

const SUFFIX: Readonly<Record<SourceType, string>> = {
  SOURCE_TYPE_UNSPECIFIED: 'unspecified',
  SOURCE_TYPE_INTERNAL: 'internal',
  SOURCE_TYPE_INTERNAL_REMEDIATED: 'internal_remediated',
  SOURCE_TYPE_UPSTREAM_REGISTRY: 'upstream_registry',
}

const versionRow = (artifact: string, name: string, { version, source }: Release, at: number): ArtifactVersion => {
  const time = dayAfter(FIRST_RELEASE, at / 2)
  const upstream = source === UPSTREAM
  return {
    uid: `${artifact}:${version}:${SUFFIX[source]}`,
    name,
    version,
    description: `${name} ${version}`,
    sizeBytes: String(20_000 + (Number.parseInt(fixtureDigest(`${artifact} ${version}`).slice(7, 13), 16) % 5_000_000)),
    createTime: time,
    updateTime: time,
    artifactUid: artifact,
    sourceType: source,
    malwareScanned: upstream,
    malwareMalicious: false,
    upstreamPublishedDate: upstream ? '2024-05-01T00:00:00.000Z' : undefined,
  }
}

const artifactRows = (
  ecosystem: 'python' | 'java',
  name: string,
): { readonly artifact: Artifact; readonly versions: readonly ArtifactVersion[] } => {
  const uid = `${ecosystem}:${name}`
  const versions = releasesOf(name).map((release, at) => versionRow(uid, name, release, at))
  const built = versions.filter(({ sourceType }) => sourceType !== UPSTREAM)
  const artifact: Artifact = {
    uid,
    name,
    description: `${name}, built from source`,
    ecosystem: ecosystem === 'python' ? 'ECOSYSTEM_PYTHON' : 'ECOSYSTEM_JAVA',
    latestVersion: built.at(-1)?.version ?? '',
    versionCount: built.length,
    createTime: dayAfter(FIRST_RELEASE, 0),
    updateTime: built.at(-1)?.updateTime ?? dayAfter(FIRST_RELEASE, 0),
    cudaVersions: CUDA[name],
  }
  return { artifact, versions }
}

/** 40 Python artifacts and 30 Java artifacts, with 3 to 60 versions each. */
const demoLibraries = (): Rows => {
  const all = [...PYTHON.map((name) => artifactRows('python', name)), ...JAVA.map((name) => artifactRows('java', name))]
  return { artifacts: all.map(({ artifact }) => artifact), artifactVersions: all.flatMap(({ versions }) => versions) }
}

/** One repo of the demo. `from` is the day of its creation and of its first tag. */
type RepoPlan = TagPlan & {
  readonly name: string
  readonly tier: 'APPLICATION' | 'BASE' | 'FIPS' | 'DEVTOOLS'
  readonly readme?: true
  readonly synced?: true
  readonly overlay?: CustomOverlay
}

const lines = (patches: number, ...names: readonly string[]): readonly Stream[] => names.map((name) => ({ name, patches }))
const ended = (patches: number, ...names: readonly string[]): readonly Stream[] => names.map((name) => ({ name, patches, ended: true }))

/** Certificates and a proxy: the usual first additions to an image. */
const CORPORATE: CustomOverlay = {
  contents: { packages: ['curl', 'tzdata'], runtimeRepositories: [], runtimeKeyring: [] },
  environment: { HTTPS_PROXY: 'http://proxy.example.com:3128' },
  annotations: { 'com.example.owner': 'platform' },
  accounts: {
    runAs: 'app',
    users: [{ username: 'app', uid: 10001, gid: 10001, groupName: 'app', shell: '/bin/sh', homeDir: '/home/app' }],
    groups: [{ groupname: 'app', gid: 10001, members: ['app'] }],
  },
  certificates: {
    additional: [{ name: 'example-ca', content: '-----BEGIN CERTIFICATE-----\nMIIBdemo\n-----END CERTIFICATE-----\n' }],
    providers: [],
  },
}

/** Twelve repos in order of name. Their create times deliberately differ from that order. */
const REPOS: readonly RepoPlan[] = [
  { name: 'apko', tier: 'DEVTOOLS', from: '2026-01-19', streams: lines(8, '0.30', '1.0') },
  { name: 'busybox', tier: 'BASE', from: '2026-01-16', streams: lines(8, '1.36', '1.37') },
  {
    name: 'go',
    tier: 'DEVTOOLS',
    from: '2026-01-13',
    readme: true,
    streams: [...ended(10, '1.21', '1.22'), ...lines(10, '1.23', '1.24', '1.25')],
  },
  { name: 'jdk', tier: 'DEVTOOLS', from: '2026-01-14', overlay: CORPORATE, streams: lines(11, '11', '17', '21', '25') },
  { name: 'nginx', tier: 'APPLICATION', from: '2026-01-28', synced: true, readme: true, streams: lines(8, '1.28', '1.29') },
  {
    name: 'node',
    tier: 'APPLICATION',
    from: '2026-02-03',
    synced: true,
    readme: true,
    streams: [...ended(13, '18'), ...lines(13, '20', '22', '24', '25')],
  },
  { name: 'php', tier: 'APPLICATION', from: '2026-01-20', overlay: CORPORATE, streams: lines(8, '8.3', '8.4') },
  { name: 'postgres', tier: 'APPLICATION', from: '2026-02-10', streams: lines(8, '17', '18') },
  {
    name: 'python',
    tier: 'APPLICATION',
    from: '2026-01-23',
    readme: true,
    streams: [...ended(14, '3.8', '3.9'), ...lines(14, '3.11', '3.12', '3.13', '3.14')],
  },
  { name: 'redis', tier: 'APPLICATION', from: '2026-02-14', readme: true, streams: lines(8, '7', '8') },
  { name: 'ruby', tier: 'APPLICATION', from: '2026-01-21', synced: true, streams: ended(8, '3.1', '3.2') },
  { name: 'static', tier: 'BASE', from: '2026-01-23', readme: true, streams: [], nightlies: 28 },
]

/** The public catalog holds every repo, each line with its first patch only. It serves as a source of syncs. */
const publicPlan = ({ name, tier, from, streams, nightlies = 0 }: RepoPlan): RepoPlan => ({
  name,
  tier,
  from,
  readme: true,
  streams: streams.map((stream) => ({ ...stream, patches: 1 })),
  nightlies,
})

const ACME_REPOS: readonly RepoPlan[] = [
  { name: 'gadget', tier: 'APPLICATION', from: '2026-02-01', streams: lines(2, '1.0') },
  { name: 'widget', tier: 'APPLICATION', from: '2026-02-02', streams: lines(2, '2.0') },
]

const repoUid = (parent: Group, name: string): string => fixtureUid(parent.uid, `repo ${name}`)

const syncFrom = (name: string): SyncConfig => ({
  source: repoUid(publicCatalog, name),
  uniqueTags: false,
  expirationTime: '2036-01-01T00:00:00.000Z',
  google: '',
  amazon: '',
  azure: '',
  apkoOverlay: '',
  gracePeriod: false,
})

const repoRow = (parent: Group, { name, tier, from, streams, synced, overlay }: RepoPlan): Repo => ({
  uid: repoUid(parent, name),
  name,
  description: `Container images of ${name}`,
  catalogTier: `CATALOG_TIER_${tier}`,
  bundles: tier === 'BASE' ? ['base'] : ['application'],
  aliases: [`${name}:latest`],
  activeTags: ['latest', ...streams.filter((stream) => !stream.ended).map((stream) => stream.name)],
  ...(synced ? { sync_config: syncFrom(name) } : {}),
  ...(overlay ? { customOverlay: overlay } : {}),
  ...dated(dayAfter(from, 0)),
})

const readmeText = (name: string): string => `# ${name}\n\nPull it with \`docker pull registry.example.com/${name}:latest\`.\n`

const repoRows = (parent: Group, plan: RepoPlan): Rows => {
  const repo = repoRow(parent, plan)
  const tags = planTags(repo.uid, plan)
  return {
    repos: [repo],
    readmes: plan.readme ? [{ uid: repo.uid, content: readmeText(plan.name) }] : [],
    tags,
    images: planImages(repo.uid, tags),
  }
}

/** A synced repo inherits from its source, so the same plan describes the public repo. */
const demoRegistry = (): readonly Rows[] => [
  ...REPOS.map((plan) => repoRows(publicCatalog, publicPlan(plan))),
  ...REPOS.map((plan) => repoRows(exampleCom, plan)),
  ...ACME_REPOS.map((plan) => repoRows(acmeDev, plan)),
]

/** The rows that do not depend on the time. Rows are never changed in place, so that all sandboxes of a process share them. */
let timeless: readonly Rows[] | undefined

const timelessRows = (): readonly Rows[] => {
  timeless ??= [...demoRegistry(), demoAdvisories(), demoLibraries(), demoEvents]
  return timeless
}

/** Three organizations with about 5,000 tags: `example.com` to work in, `acme.dev` to prove isolation, the public catalog to sync from. */
export const demoDataset = (now: number): Dataset => ({
  rows: [...demoAccess(now), ...timelessRows()],
  organization: exampleCom.uid,
})

/** One organization and its users, otherwise empty. */
export const emptyDataset = (): Dataset => {
  const only = organization('example.com')
  return {
    rows: [
      {
        groups: [only],
        roles: builtInRoleRows,
        identities: userRows,
        roleBindings: bindUsers(only.uid, MEMBERS),
      },
    ],
    organization: only.uid,
  }
}
