import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { mappings } from '../../../mappings/index.ts'
import { v1OnlyShapes } from '../../../mappings/v1-only-shapes.ts'
import { checkAtStart, sumOf, TESTED } from '../../../src/grpc/check-at-start.ts'

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
  await expect(start()).rejects.toThrow('mappings/grpc/v2.json: iam.groups.list calls GET /iam/v2/groups, which no method has as its route')
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
