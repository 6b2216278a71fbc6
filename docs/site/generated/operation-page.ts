import type { Operation } from '../../../src/tables/operation.ts'
import { guideSection } from '../../../src/tools/guide.ts'
import { type Block, callLines, code, codes, markdownOf, prose, type Text } from '../../../src/tools/guide-pages.ts'
import type { GuideSection } from '../../../src/tools/guide-request.ts'
import { type DescribedOperation, describedOperation, descriptionOf, type OperationPath } from '../../../src/tools/openapi.ts'
import { answerTable, bodyTable } from './members-table.ts'
import { parametersTable } from './parameters-table.ts'
import type { SiteTables } from './site-tables.ts'
import { v1Curl } from './v1-request.ts'

/** Returns the page of one operation: what v1 takes and answers, what is asked of v2, and what differs. */
export function operationPage(operation: Operation, path: OperationPath, tables: SiteTables): string {
  const { env } = tables.guide
  const described = describedOperation(operation, tables.shapes[operation.id])
  const section = operation.begin ? guideSection(operation, tables.guide) : undefined
  return markdownOf([
    { kind: 'heading', level: 1, text: [operation.id] },
    { kind: 'text', text: [code(`${operation.method} ${path.path}`)] },
    { kind: 'text', text: prose(descriptionOf(described, { notFound: 'empty', dialect: env.dialect })) },
    atAGlance(operation, tables, section),
    ...requestBlocks(operation, described, section),
    ...parametersTable(described, path, section?.parameters ?? [], env.dialect),
    ...bodyTable(described, section?.body ?? [], env.dialect),
    ...answerTable(described, section?.answer ?? [], env.dialect),
    ...differenceBlocks(operation, tables),
  ])
}

function atAGlance({ id, kind, calls, instead, method, template }: Operation, tables: SiteTables, section?: GuideSection): Block {
  const own = tables.guide.methods.v1({ method, template })
  const rows: readonly (readonly [string, Text])[] = [
    ['Kind', [code(kind)]],
    ['Over', own === undefined ? ['REST'] : ['REST; gRPC, gRPC-Web and Connect as ', code(own)]],
    ...(calls.length > 0 ? [['Calls of v2', codes(calls)] as const] : []),
    ...(section?.grpc && section.grpc.v2.length > 0 ? [['The same in gRPC of v2', codes(section.grpc.v2)] as const] : []),
    ...(instead === undefined ? [] : [['Closest in v2', prose(instead)] as const]),
    ['Pattern for rules', [code(id), ', or ', code(`${id.split('.')[0]}.*`)]],
  ]
  return { kind: 'list', items: rows.map(([name, text]) => [`${name}: `, ...text]) }
}

const DEMO = 'V1=http://127.0.0.1:8080 V2=http://127.0.0.1:8090 TOKEN=demo-owner'

function requestBlocks(operation: Operation, described: DescribedOperation, section?: GuideSection): readonly Block[] {
  const [request] = section?.requests ?? []
  const v2 = request?.calls.flatMap(callLines) ?? []
  return [
    { kind: 'heading', level: 2, text: ['Request'] },
    { kind: 'text', text: prose('These lines work with `crosswalk demo`. Put your own value in the place of `<…>`.') },
    { kind: 'shell', lines: [DEMO, v1Curl(operation, described, request?.v1)] },
    ...(v2.length === 0
      ? []
      : ([
          { kind: 'text', text: ['What Crosswalk asks v2 for it:'] },
          { kind: 'shell', lines: v2 },
        ] as const)),
  ]
}

function differenceBlocks({ id }: Operation, { differences, differencesOf }: SiteTables): readonly Block[] {
  const wanted = new Set(differencesOf(id))
  const own = differences.filter((one) => wanted.has(one.code))
  if (own.length === 0) return []
  return [
    { kind: 'heading', level: 2, text: ['Differences'] },
    {
      kind: 'list',
      items: own.map(
        ({ code: name, seen, because, overGrpc }): Text => [
          code(name),
          ': ',
          ...prose(seen),
          ' ',
          ...prose(because),
          ...(overGrpc === undefined ? [] : [' Over gRPC: ', ...prose(overGrpc)]),
        ],
      ),
    },
  ]
}
