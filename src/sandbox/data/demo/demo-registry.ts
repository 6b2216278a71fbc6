import type { Group } from '../../world/iam-model.ts'
import type { CustomOverlay, Repo, SyncConfig } from '../../world/registry-model.ts'
import type { Rows } from '../dataset.ts'
import { dated, dayAfter, fixtureUid } from '../fixture.ts'
import { acmeDev, exampleCom, publicCatalog } from '../groups.ts'
import { planImages, planTags, type Stream, type TagPlan } from '../tag-plan.ts'

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
export const demoRegistry = (): readonly Rows[] => [
  ...REPOS.map((plan) => repoRows(publicCatalog, publicPlan(plan))),
  ...REPOS.map((plan) => repoRows(exampleCom, plan)),
  ...ACME_REPOS.map((plan) => repoRows(acmeDev, plan)),
]
