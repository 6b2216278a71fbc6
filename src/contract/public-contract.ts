import { isNode, type LookUp, type Members, type Node, type SchemaShape, shapeOf } from './schema-shape.ts'

/** One operation of a contract. */
export interface ContractOperation {
  readonly id: string | undefined
  readonly method: string
  readonly path: string
  /** Query parameters by their names. */
  readonly query: Members
  /** The query parameters that it requires. */
  readonly needs: readonly string[]
  /** Headers and cookies by their names. */
  readonly headers: readonly string[]
  readonly request: SchemaShape | undefined
  readonly answer: SchemaShape | undefined
}

export interface Contract {
  readonly title: string
  readonly operations: readonly ContractOperation[]
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** Reads the operations of a document of OpenAPI 2, 3.0 or 3.1 whose references all lead into itself. */
export function contractOf(document: Node): Contract {
  const lookUp = lookUpIn(document)
  const { paths, info } = document
  const operations = Object.entries(isNode(paths) ? paths : {}).flatMap(([path, item]) => operationsAt(path, item, lookUp))
  return { title: isNode(info) ? String(info['title'] ?? '') : '', operations }
}

function operationsAt(path: string, item: unknown, lookUp: LookUp): readonly ContractOperation[] {
  if (!isNode(item)) return []
  const shared = listOf(item['parameters'])
  return METHODS.flatMap((method) => {
    const found = item[method]
    if (!isNode(found)) return []
    const parameters = [...shared, ...listOf(found['parameters'])].map((one) => resolved(one, lookUp)).filter(isNode)
    const body = parameters.find((one) => one['in'] === 'body')
    return {
      id: typeof found['operationId'] === 'string' ? found['operationId'] : undefined,
      method: method.toUpperCase(),
      path,
      query: queryOf(parameters, lookUp),
      needs: parameters.filter((one) => one['in'] === 'query' && one['required'] === true).map((one) => String(one['name'])),
      headers: parameters.filter((one) => ['header', 'cookie'].includes(String(one['in']))).map((one) => String(one['name'])),
      request: body ? shapeOf(body['schema'], lookUp) : contentOf(resolved(found['requestBody'], lookUp), lookUp),
      answer: answerOf(found['responses'], lookUp),
    }
  })
}

function queryOf(parameters: readonly Node[], lookUp: LookUp): Members {
  const inQuery = parameters.filter((one) => one['in'] === 'query')
  return Object.fromEntries(
    inQuery.map((one) => [String(one['name']), { shape: shapeOf(one['schema'] ?? one, lookUp), isReadOnly: false }]),
  )
}

/** The answer of the first status that is a success. */
function answerOf(responses: unknown, lookUp: LookUp): SchemaShape | undefined {
  if (!isNode(responses)) return undefined
  const status = Object.keys(responses)
    .sort()
    .find((code) => code.startsWith('2'))
  const response = resolved(status === undefined ? undefined : responses[status], lookUp)
  return isNode(response) && 'schema' in response ? shapeOf(response['schema'], lookUp) : contentOf(response, lookUp)
}

function contentOf(body: unknown, lookUp: LookUp): SchemaShape | undefined {
  const content = isNode(body) ? body['content'] : undefined
  if (!isNode(content)) return undefined
  const type = Object.keys(content).find((name) => /json/i.test(name))
  const media = type === undefined ? undefined : content[type]
  return isNode(media) ? shapeOf(media['schema'], lookUp) : undefined
}

function resolved(node: unknown, lookUp: LookUp): unknown {
  return isNode(node) && typeof node['$ref'] === 'string' ? lookUp(node['$ref']) : node
}

function lookUpIn(document: Node): LookUp {
  return (ref) => {
    if (!ref.startsWith('#/')) return undefined
    const path = ref.slice(2).split('/')
    return path.reduce<unknown>(
      (node, part) => (isNode(node) ? node[decodeURIComponent(part).replace(/~1/g, '/').replace(/~0/g, '~')] : undefined),
      document,
    )
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
