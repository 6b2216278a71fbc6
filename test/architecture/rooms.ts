/** What each room may import besides itself: imports go one way, types included. `docs/why/architecture.md` shows the rooms. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  heads: [],
  errors: ['heads'],
  files: ['errors'],
  tables: ['errors'],
  mappings: ['tables', 'errors'],
  serve: ['tables', 'errors', 'heads'],
  grpc: ['serve', 'tables', 'errors', 'heads'],
  migrate: ['serve', 'tables', 'errors', 'files'],
  fleet: ['migrate', 'tables', 'errors', 'files'],
  tools: ['grpc', 'migrate', 'serve', 'tables', 'errors', 'files', 'mappings'],
  admin: ['tools', 'fleet', 'migrate', 'serve', 'tables', 'errors'],
  app: ['admin', 'tools', 'fleet', 'migrate', 'grpc', 'serve', 'tables', 'errors', 'files', 'mappings', 'sandbox'],
  sandbox: [],
  index: ['app', 'migrate'],
  cli: ['app', 'files'],
  site: ['app', 'tools', 'tables', 'errors', 'mappings'],
}

/** The only folder of `app` that knows the sandbox. */
export const COMMANDS = 'src/app/cli/'

/** Packages that only some rooms know. */
export const ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  fastify: ['serve', 'grpc', 'admin', 'app', 'sandbox'],
  '@fastify/reply-from': ['serve'],
  'http-proxy-3': ['serve'],
  undici: ['serve', 'grpc', 'admin', 'app', 'sandbox'],
  'prom-client': ['admin'],
  '@opentelemetry/api': ['serve'],
  '@opentelemetry/sdk-trace-base': ['serve'],
  '@opentelemetry/sdk-metrics': ['serve'],
  jose: ['admin', 'sandbox'],
  '@bufbuild/protobuf': ['grpc'],
  protobufjs: ['sandbox'],
  ioredis: ['fleet'],
  'markdown-it': ['site'],
  'github-slugger': ['site'],
  minisearch: ['site'],
  '@redocly/openapi-core': ['tools'],
  'jsonc-parser': ['app'],
  yaml: ['app'],
}

/** What mappings/ writes its tables with. */
export const DOOR = 'src/tables/language.ts'

/** What programs import by the name of the package. Only it and the door of the tables re-export. */
export const INDEX = 'src/index.ts'
