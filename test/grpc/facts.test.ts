import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import { v1OnlyShapes } from '../../mappings/v1-only-shapes.ts'
import { checkFacts } from '../../src/grpc/check.ts'
import { checkAtStart, sumOf, TESTED } from '../../src/grpc/check-at-start.ts'
import { type FactsOfBoth, readFacts } from '../../src/grpc/facts.ts'
import { openRpc, type RpcMethod } from '../../src/grpc/proto-files.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test breaks the facts at any place.
type Breakable = any

type Break = (v1: Breakable, v2: Breakable) => void

function broken(change: Break): FactsOfBoth {
  const { v1, v2 } = readFacts()
  change(v1, v2)
  return { v1, v2 }
}

/** Renames a member and keeps its place. */
function rename(record: Breakable, from: string, to: string): void {
  for (const [name, value] of Object.entries(record)) {
    delete record[name]
    record[name === from ? to : name] = value
  }
}

const IAM = 'chainguard.platform.iam'
const group = (facts: Breakable) => facts.messages[`${IAM}.Group`]
const groupV2 = (facts: Breakable) => facts.messages[`${IAM}.v2.Group`]
const method = (facts: Breakable, service: string, name: string) => facts.services[`${IAM}.${service}`][name]
const orgKind = (facts: Breakable) => facts.enums[`${IAM}.OrgKind`]
const claimMatch = (facts: Breakable) => facts.messages[`${IAM}.Identity`].claim_match

/** Faults of the facts, and the sentence that stops the process. It begins with `mappings/grpc/`, and `~` stands for the package. */
const WRONG_FACTS: readonly (readonly [what: string, change: Break, sentence: string])[] = [
  ['a number that stands twice', (v1) => (group(v1).name[0] = 1), 'v1.json: ~Group.name has 1, which id has too'],
  ['a number out of range', (v1) => (group(v1).name[0] = 0), 'v1.json: ~Group.name has number 0, which no field may have'],
  ['a number that protobuf keeps', (v1) => (group(v1).name[0] = 19_500), 'v1.json: ~Group.name has number 19500, which no field may have'],
  [
    'a type that is not known',
    (v1) => (group(v1).kind[1] = `${IAM}.OrgSort`),
    'v1.json: ~Group.kind has type ~OrgSort, which is not known',
  ],
  ['a type that is none', (v1) => (group(v1).kind[1] = 'many strings'), 'v1.json: ~Group.kind has type many strings, which is not known'],
  [
    'a key that no map may have',
    (v1) => (group(v1).resource_limits[1] = 'map<bytes,int32>'),
    'v1.json: ~Group.resource_limits has keys of type bytes',
  ],
  [
    'a list in a oneof',
    (v1) => (claimMatch(v1)[1] = `repeated ${claimMatch(v1)[1]}`),
    'v1.json: ~Identity.claim_match has type repeated ~Identity.ClaimMatch, which cannot be in oneof relationship',
  ],
  [
    'a type that the tables know better',
    (v1) => (group(v1).verified[1] = 'string'),
    'v1.json: ~Group.verified has type string, but iam.groups.list has another: flag',
  ],
  [
    'a list that is no list to the tables',
    (v1) => (group(v1).name[1] = 'repeated string'),
    'v1.json: ~Group.name has type repeated string, but iam.groups.list has another: text',
  ],
  [
    'presence that the tables do not know',
    (v1) => (group(v1).name[1] = 'optional string'),
    'v1.json: ~Group.name has type optional string, but the table says that it is implicit',
  ],
  [
    'a field outside of its oneof',
    (v1) => claimMatch(v1).pop(),
    'v1.json: ~Identity.claim_match is in no oneof, but the table says relationship',
  ],
  [
    'a JSON name that the tables do not know',
    (v1) => group(v1).name.push({ json: 'title' }),
    'v1.json: ~Group.name has the JSON name title, but the table says name',
  ],
  [
    'a field without a member',
    (v1) => (group(v1).color = [99, 'string']),
    'v1.json: ~Group.color is not a member of the answer of iam.groups.list',
  ],
  [
    'a field with another name',
    (v1) => rename(group(v1), 'verified', 'confirmed'),
    'v1.json: ~Group.confirmed is not a member of the answer of iam.groups.list',
  ],
  [
    'a field of v2 with another name',
    (_, v2) => rename(groupV2(v2), 'create_time', 'created'),
    'v2.json: ~v2.Group.create_time is missing; iam.groups.list needs it',
  ],
  [
    'a field of v2 with another type',
    (_, v2) => (groupV2(v2).create_time[1] = 'string'),
    'v2.json: ~v2.Group.create_time has type string, but iam.groups.list has another: time',
  ],
  [
    'a parameter with another name',
    (v1) => rename(v1.messages[`${IAM}.GroupFilter`], 'name', 'title'),
    'v1.json: ~GroupFilter.name is missing; iam.groups.list needs it',
  ],
  [
    'a parameter that no table has',
    (v1) => (v1.messages[`${IAM}.GroupFilter`].color = [99, 'string']),
    'v1.json: ~GroupFilter.color is not a parameter of iam.groups.list',
  ],
  [
    'a number of an enum',
    (v1) => (orgKind(v1)[Object.keys(orgKind(v1))[1]!] = 77),
    'v1.json: ~OrgKind.ORG_KIND_STARTER has number 77, but iam.groups.list has 1',
  ],
  [
    'a number of an enum in v2',
    (_, v2) => (v2.enums[`${IAM}.v2.OrgKind`].ORG_KIND_STARTER = 77),
    'v2.json: ~v2.OrgKind.ORG_KIND_STARTER has number 77, but iam.groups.list has 1',
  ],
  [
    'a number of an enum that stands twice',
    (v1) => (orgKind(v1)[Object.keys(orgKind(v1))[1]!] = 0),
    'v1.json: ~OrgKind.ORG_KIND_STARTER has 0, which ORG_KIND_UNSPECIFIED has too',
  ],
  [
    'an enum that begins with another number',
    (v1) => (orgKind(v1)[Object.keys(orgKind(v1))[0]!] = 88),
    'v1.json: ~OrgKind.ORG_KIND_UNSPECIFIED has number 88; the first value has 0',
  ],
  [
    'a value of an enum with another name',
    (v1) => rename(orgKind(v1), Object.keys(orgKind(v1))[1]!, 'CLUB'),
    'v1.json: ~OrgKind.ORG_KIND_STARTER is missing; iam.groups.list needs it',
  ],
  ['a value of an enum that no table has', (v1) => (orgKind(v1).CLUB = 77), 'v1.json: ~OrgKind.CLUB is not a value of iam.groups.list'],
  ['a method without a rule', (v1) => delete method(v1, 'Groups', 'List').http, 'v1.json: ~Groups/List has no http rule'],
  [
    'two methods with one route',
    (v1) => (method(v1, 'Roles', 'List').http = { get: '/iam/v1/groups' }),
    'v1.json: ~Roles/List has the route of ~Groups/List, GET /iam/v1/groups',
  ],
  [
    'a route that no table has',
    (v1) => (method(v1, 'Groups', 'List').http = { get: '/iam/v1/crowds' }),
    'v1.json: iam.groups.list has the route GET /iam/v1/groups, which no method has',
  ],
  [
    'a route of v2 that no table calls',
    (_, v2) => (method(v2, 'v2.GroupsService', 'ListGroups').http = { get: '/iam/v2/crowds' }),
    'v2.json: iam.groups.list calls GET /iam/v2/groups, which no method has as its route',
  ],
  [
    'a variable that is no field',
    (v1) => (method(v1, 'Groups', 'Update').http.put = '/iam/v1/groups/{uid=**}'),
    'v1.json: ~Groups/Update has the variables uid in its route, but iam.groups.update has id',
  ],
  [
    'a body that is no field',
    (v1) => (method(v1, 'Groups', 'Create').http.body = 'crowd'),
    'v1.json: ~Groups/Create has the body crowd, but ~CreateGroupRequest has no such field',
  ],
  [
    'a message that is none',
    (v1) => (method(v1, 'Groups', 'List').out = `${IAM}.Groups`),
    'v1.json: ~Groups/List takes or answers ~Groups, which is not a message',
  ],
  [
    'a method that is missing',
    (v1) => delete v1.services[`${IAM}.Groups`].List,
    'v1.json: iam.groups.list has the route GET /iam/v1/groups, which no method has',
  ],
  [
    'the only method without a route that is missing',
    (v1) => delete v1.services[`${IAM}.GroupInvites`].CreateWithGroup,
    'v1.json: ~GroupInvites/CreateWithGroup is missing',
  ],
]

describe('check at start', () => {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-facts-'))
  const start = () => checkAtStart(mappings, v1OnlyShapes, pathToFileURL(`${folder}/`))
  const change = (from: string, to: string) => {
    const file = join(folder, 'v2.json')
    const text = readFileSync(file, 'utf8')
    expect(text).toContain(from)
    writeFileSync(file, text.replace(from, to))
  }

  beforeEach(() => cpSync('mappings/grpc', folder, { recursive: true }))
  afterAll(() => rmSync(folder, { recursive: true }))

  it('lets a process start with the facts that the tests have checked', async () => {
    expect({ v1: sumOf('v1'), v2: sumOf('v2') }).toEqual(TESTED)
    await expect(start()).resolves.toBeUndefined()
  })

  it('names what is wrong', async () => {
    change('/iam/v2/groups"', '/iam/v2/crowds"')
    await expect(start()).rejects.toThrow(
      'mappings/grpc/v2.json: iam.groups.list calls GET /iam/v2/groups, which no method has as its route',
    )
  })

  it('refuses a number that no table can tell', async () => {
    change('"verified": [5, "bool"]', '"verified": [55, "bool"]')
    await expect(start()).rejects.toThrow(
      'mappings/grpc/v2.json: not what the tests have checked, so the number of a field may be wrong; install Crosswalk anew',
    )
  })

  it('refuses a file that ends early', async () => {
    writeFileSync(join(folder, 'v1.json'), '{"services": ')
    await expect(start()).rejects.toThrow('mappings/grpc/v1.json is not JSON: ')
  })
})

describe('check facts', () => {
  it('finds tables and facts in agreement', () => {
    expect(() => checkFacts(readFacts(), mappings, v1OnlyShapes)).not.toThrow()
  })

  it.each(WRONG_FACTS)('names %s', (_, change, sentence) => {
    expect(() => checkFacts(broken(change), mappings, v1OnlyShapes)).toThrow(
      new Error(`mappings/grpc/${sentence.replaceAll('~', 'chainguard.platform.iam.')}`),
    )
  })
})

describe('open rpc', () => {
  const operations = mappings.flatMap((mapping) => mapping.operations)
  const rpc = openRpc(operations, readFacts())
  const find = (path: string): RpcMethod => rpc.find(path)!

  it('gives each operation the one method with its route', () => {
    const served = rpc.methods.flatMap(({ operation }) => operation ?? [])
    expect(served.map(({ id }) => id).sort()).toEqual(operations.map(({ id }) => id).sort())
  })

  it('finds a method by the path of its calls', () => {
    const { operation, rule, input, output, version } = find('/chainguard.platform.iam.Groups/List')
    expect(operation?.id).toBe('iam.groups.list')
    expect(rule).toEqual({ method: 'GET', template: '/iam/v1/groups', body: undefined })
    expect([input.typeName, output.typeName, version]).toEqual([
      'chainguard.platform.iam.GroupFilter',
      'chainguard.platform.iam.GroupList',
      'v1',
    ])
  })

  it('finds the methods of v2 and of v2beta1 under their own names', () => {
    const paths = ['v2', 'v2beta1'].map((version) => `/chainguard.platform.iam.${version}.GroupsService/ListGroups`)
    expect(paths.map((path) => [find(path).version, find(path).input.typeName, find(path).rule?.template])).toEqual([
      ['v2', 'chainguard.platform.iam.v2.ListGroupsRequest', '/iam/v2/groups'],
      ['v2beta1', 'chainguard.platform.iam.v2beta1.ListGroupsRequest', '/iam/v2/groups'],
    ])
  })

  it('knows a service of v1 by any path below it', () => {
    const others = ['/chainguard.platform.iam.v2.GroupsService/Grow', '/chainguard.platform.iam.Trees/List', '/', '']
    expect(['/chainguard.platform.iam.Groups/Grow', ...others].map(rpc.isOfV1)).toEqual([true, false, false, false, false])
    expect(rpc.find('/chainguard.platform.iam.Groups/Grow')).toBeUndefined()
  })
})
