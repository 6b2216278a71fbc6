import { create, fromBinary, fromJsonString, toBinary, toJson } from '@bufbuild/protobuf'
import { expect, it } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import { readFacts } from '../../src/grpc/facts.ts'
import { openRpc, type RpcMethod } from '../../src/grpc/proto-files.ts'

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

it('knows a service by any path below it', () => {
  expect(['/chainguard.platform.iam.Groups/Grow', '/chainguard.platform.iam.Trees/List', '/', ''].map(rpc.knowsService)).toEqual([
    true,
    false,
    false,
    false,
  ])
  expect(rpc.find('/chainguard.platform.iam.Groups/Grow')).toBeUndefined()
})

it('writes and reads nested messages, maps, oneofs, optional fields and times', () => {
  const json = {
    id: 'a',
    group: 'b',
    github: { installations: { '12': { state: 'x' } } },
  }
  const schema = rpc.registry.getMessage('chainguard.platform.iam.AccountAssociations')!
  const message = fromJsonString(schema, JSON.stringify(json), { ignoreUnknownFields: true })
  expect(toJson(schema, fromBinary(schema, toBinary(schema, message)))).toEqual(toJson(schema, message))
  expect(toBinary(schema, create(schema))).toHaveLength(0)
})
