import { type Artifact, type ArtifactVersion, SOURCE_TYPES, type SourceType } from '../../world/library-model.ts'
import type { Rows } from '../dataset.ts'
import { dayAfter, fixtureDigest } from '../fixture.ts'

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

const FIRST_DAY = '2026-01-05'

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
  const time = dayAfter(FIRST_DAY, at / 2)
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
    createTime: dayAfter(FIRST_DAY, 0),
    updateTime: built.at(-1)?.updateTime ?? dayAfter(FIRST_DAY, 0),
    cudaVersions: CUDA[name],
  }
  return { artifact, versions }
}

/** 40 Python artifacts and 30 Java artifacts, with 3 to 60 versions each. */
export const demoLibraries = (): Rows => {
  const all = [...PYTHON.map((name) => artifactRows('python', name)), ...JAVA.map((name) => artifactRows('java', name))]
  return { artifacts: all.map(({ artifact }) => artifact), artifactVersions: all.flatMap(({ versions }) => versions) }
}
