import { misuse } from '../../../errors.ts'
import { operationsOf } from '../../../tables/tables.ts'
import { openApiDocument, serverUrl } from '../../../tools/openapi.ts'
import { contractSettings, listeningUrl } from '../../config/config.ts'
import { isBase, quotedValue } from '../../config/kinds.ts'
import { type Command, textOf, textsOf, writeText } from '../command.ts'
import { checkOperations, configFlags, configOf, operationsFlag } from '../flags.ts'

/** Prints the v1 contract of the proxy as OpenAPI. */
export const openapi: Command = {
  usage: 'openapi',
  summary: 'Prints the v1 contract of the proxy as an OpenAPI 3.1 document in JSON, with what v2 does for each operation.',
  flags: {
    ...operationsFlag,
    server: { help: 'Address at which clients call the proxy. Default: where it listens', value: 'URL' },
    out: { help: 'File to write the document to', value: 'FILE' },
    ...configFlags([
      'tables',
      'listen.host',
      'listen.port',
      'tls.cert',
      'v1.dialect',
      'v1.deprecation',
      'v1.sunset',
      'v1.successor',
      'errors.notFound',
    ]),
  },
  async run(flags, _, io) {
    const tables = await io.tables()
    const config = configOf(flags, io)
    const server = textOf(flags, 'server') ?? serverUrl(listeningUrl(config), 'localhost')
    if (!isBase(server))
      throw misuse(`server is ${quotedValue(server)} in the flag --server, but it must be an address such as https://proxy.example.`)
    const operations = textsOf(flags, 'operations')
    checkOperations(operations, operationsOf(tables))
    const document = openApiDocument(tables, { ...contractSettings(config), server, operations })
    return writeText(io, `${JSON.stringify(document, null, 2)}\n`, textOf(flags, 'out'))
  },
}
