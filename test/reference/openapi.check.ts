import { expect, test } from 'vitest'
import { documentOf } from '../openapi/documents.ts'
import { documentDeviations } from './document-deviations.ts'
import { read } from './documents.ts'
import { type ContractDocument, deviationsOf } from './openapi-deviations.ts'

test('the document of the published dialect is the v1 contract, but for what is listed', (context) => {
  const contract = read<ContractDocument>(context, 'openapi-v1.json')
  const found = deviationsOf(documentOf('published') as unknown as ContractDocument, contract)
  const unexplained = found.filter((line) => !documentDeviations.some(({ lines }) => lines.test(line)))
  for (const line of unexplained) console.log(line)
  const unused = documentDeviations.filter(({ lines }) => !found.some((line) => lines.test(line)))
  console.log(`${found.length} deviations of ${documentDeviations.length} kinds, ${unexplained.length} without an explanation`)
  expect({ unexplained, unused }).toEqual({ unexplained: [], unused: [] })
})
