import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tables } from '../mappings/all.ts'
import { compare } from './compare.ts'
import type { Facts } from './facts.ts'

const directory = process.env.CROSSWALK_REFERENCE ?? join('..', 'shared', 'reference')
const file = join(directory, 'crosswalk.json')

test('the tables say what the reference says', () => {
  if (!existsSync(file)) throw new Error(`no reference at ${file}; set CROSSWALK_REFERENCE to the folder that holds crosswalk.json`)
  const { missing, extra, different } = compare(JSON.parse(readFileSync(file, 'utf8')) as Facts, tables)
  for (const [name, list] of Object.entries({ missing, extra, different })) for (const line of list) console.log(`${name}: ${line}`)
  console.log(`${missing.length} missing, ${extra.length} extra, ${different.length} different`)
  expect({ missing, extra, different }).toEqual({ missing: [], extra: [], different: [] })
})
