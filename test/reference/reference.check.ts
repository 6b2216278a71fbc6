import { expect, test } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import { compare } from './compare.ts'
import { compareWithV1, compareWithV2, type OpenApi } from './contracts.ts'
import { read } from './documents.ts'
import type { Facts } from './facts.ts'
import type { Findings } from './findings.ts'

test('the tables say what the reference says', (context) => {
  const found = [
    compare(read<Facts>(context, 'crosswalk.json'), mappings),
    compareWithV1(read<OpenApi>(context, 'openapi-v1.json'), mappings),
    compareWithV2(read<OpenApi>(context, 'openapi-v2.json'), mappings),
  ]
  const all = (kind: keyof Findings) => found.flatMap((findings) => findings[kind])
  const [missing, extra, different] = [all('missing'), all('extra'), all('different')]
  for (const [name, list] of Object.entries({ missing, extra, different })) for (const line of list) console.log(`${name}: ${line}`)
  console.log(`${missing.length} missing, ${extra.length} extra, ${different.length} different`)
  expect({ missing, extra, different }).toEqual({ missing: [], extra: [], different: [] })
})
