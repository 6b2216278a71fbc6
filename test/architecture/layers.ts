/** What both who put things together, the server and the command line, need. */
const SERVED = ['modes', 'report', 'diff', 'explain', 'openapi', 'translate', 'upstream', 'tables', 'errors']

/**
 * Imports go one way (design): each layer names the layers it may import besides itself. `config` is read by whoever puts things
 * together; `explain` runs plans without sending anything.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  relay: [],
  errors: ['relay'],
  sandbox: [],
  tables: ['errors'],
  mappings: ['tables', 'errors'],
  translate: ['tables', 'errors'],
  rpc: ['translate', 'tables', 'errors'],
  request: ['limits', 'listen', 'upstream', 'tables', 'errors'],
  upstream: ['wire', 'limits', 'tables', 'errors', 'relay'],
  wire: ['limits', 'listen', 'relay', 'errors'],
  limits: [],
  listen: ['limits', 'relay', 'errors'],
  tracing: [],
  diff: ['tables', 'errors'],
  cases: ['diff', 'translate', 'upstream', 'tables', 'errors', 'mappings'],
  notify: ['diff', 'upstream', 'errors'],
  draft: ['errors'],
  html: [],
  store: ['limits', 'errors'],
  fleet: ['store', 'modes', 'diff', 'limits', 'request', 'tables', 'errors'],
  report: ['html', 'modes', 'diff', 'tables', 'errors'],
  modes: ['request', 'limits', 'diff', 'translate', 'upstream', 'tables', 'errors'],
  replay: ['request', 'rpc', 'explain', 'diff', 'modes', 'translate', 'upstream', 'tables', 'errors'],
  config: ['tables', 'modes', 'store', 'errors'],
  explain: ['translate', 'upstream', 'rpc', 'tables', 'errors'],
  openapi: ['tables', 'errors'],
  guide: ['html', 'rpc', 'explain', 'diff', 'upstream', 'tables', 'errors'],
  serve: ['request', 'modes', 'tracing', 'translate', 'upstream', 'tables', 'errors'],
  routes: [
    'serve',
    'request',
    'rpc',
    'limits',
    'listen',
    'relay',
    'wire',
    'tracing',
    'explain',
    'openapi',
    'modes',
    'notify',
    'report',
    'fleet',
    'diff',
    'translate',
    'upstream',
    'tables',
    'errors',
  ],
  server: [...SERVED, 'config', 'serve', 'routes', 'rpc', 'limits', 'listen', 'tracing', 'notify', 'fleet', 'store', 'mappings'],
  workers: ['diff', 'routes', 'server', 'fleet', 'config', 'store', 'tracing', 'mappings'],
  cli: [
    ...SERVED,
    'server',
    'workers',
    'draft',
    'listen',
    'config',
    'request',
    'tracing',
    'replay',
    'guide',
    'cases',
    'rpc',
    'fleet',
    'store',
    'mappings',
    'sandbox',
  ],
  library: ['server', 'config', 'modes', 'request', 'tracing', 'tables'],
  index: ['library'],
  site: ['cli', 'config', 'guide', 'explain', 'openapi', 'tables', 'errors', 'mappings'],
}

/** Packages that only one layer knows. */
export const ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  fastify: ['routes', 'server', 'library', 'sandbox'],
  '@fastify/reply-from': ['routes'],
  'http-proxy-3': ['upstream'],
  undici: ['upstream', 'notify', 'routes', 'server', 'sandbox'],
  'prom-client': ['routes'],
  '@opentelemetry/api': ['tracing'],
  '@opentelemetry/sdk-trace-base': ['tracing'],
  jose: ['sandbox'],
  '@bufbuild/protobuf': ['rpc'],
  protobufjs: ['sandbox'],
  ioredis: ['store'],
  'markdown-it': ['site'],
  'github-slugger': ['site'],
  minisearch: ['site'],
  '@redocly/openapi-core': ['draft'],
  'jsonc-parser': ['config'],
  yaml: ['config'],
}

/** What mappings/ writes its tables with. */
export const DOOR = 'src/tables/language.ts'

/** What programs import by the name of the package. Only it and the door of the tables re-export. */
export const INDEX = 'src/index.ts'
