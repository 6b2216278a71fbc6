import { operationsOf, type Tables } from '../../../tables/tables.ts'
import { openApiDocument, serverUrl } from '../../../tools/openapi.ts'
import { contractSettings, listeningUrl } from '../../config/config.ts'
import { isBase, quotedValue } from '../../config/kinds.ts'
import type { Config } from '../../config/settings.ts'
import { type Command, endWith, type Flags, MISUSED, textOf, textsOf, writeText } from '../command.ts'
import { configFlags, configFrom, operationsFlag, unfitOperations } from '../flags.ts'

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
    const loaded = configFrom(flags, io)
    const tables = await io.tables()
    const problem = 'problem' in loaded ? loaded.problem : unfit(flags, tables)
    if ('problem' in loaded || problem !== undefined) return endWith(io, MISUSED, String(problem))
    return writeText(io, `${JSON.stringify(documentOf(loaded.config, flags, tables), null, 2)}\n`, textOf(flags, 'out'))
  },
}

function documentOf(config: Config, flags: Flags, tables: Tables) {
  const server = textOf(flags, 'server') ?? serverUrl(listeningUrl(config), 'localhost')
  const settings = { ...contractSettings(config), server, operations: textsOf(flags, 'operations') }
  return openApiDocument(tables, settings)
}

/** Returns a sentence about a flag that makes no sense. */
function unfit(flags: Flags, tables: Tables): string | undefined {
  const server = textOf(flags, 'server')
  if (server !== undefined && !isBase(server)) {
    return `server is ${quotedValue(server)} in the flag --server, but it must be an address such as https://proxy.example.`
  }
  const ids = operationsOf(tables).map(({ id }) => id)
  return unfitOperations({ operations: textsOf(flags, 'operations'), clients: [] }, ids)
}
