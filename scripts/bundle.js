/**
 * Gathers the program and its libraries into few files, `dist/bundle`. A start then opens a tenth of the files and takes about half of the
 * processor time (docs/why/performance.md). It needs the rest of `dist`, and the packages below, beside it.
 */
import { rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, join, relative } from 'node:path'
import { build } from 'vite'

const ROOT = join(import.meta.dirname, '..')
const FOLDER = join(ROOT, 'dist/bundle')

/** Loaded only where a setting or a command asks for them, or Fastify for a schema or an injected request. Some are optional. */
const APART = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/otlp-exporter-base',
  '@opentelemetry/otlp-transformer',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/sdk-trace-base',
  '@redocly/openapi-core',
  'ioredis',
  'light-my-request',
  'yaml',
]

/**
 * V8 scans all of a text and keeps it in memory, with two bytes for each character if one is not Latin. So the text has neither comments
 * nor other characters. Names stay, because traces of errors show them.
 */
const SHORT = { compress: false, mangle: false, codegen: { removeWhitespace: true, asciiOnly: true } }

/** What Node starts: the command line, and a worker. */
const PROGRAMS = ['dist/src/cli.js', 'dist/src/app/server/worker-main.js']
/** The module that starts a worker, whose program it finds beside itself. */
const STARTER = join(ROOT, 'dist/src/app/server/workers.js')

/** Modules find files by their own place. In the bundle they look from where they were, but for a program in the bundle. */
const keepPlaces = {
  name: 'keep-places',
  transform(code, path) {
    if (!path.startsWith(join(ROOT, 'dist/')) || !code.includes('import.meta.url')) return undefined
    const from = path === STARTER ? basename(path) : relative(FOLDER, path)
    return { code: code.replaceAll('import.meta.url', `new URL(${JSON.stringify(from)}, import.meta.url).href`), map: null }
  },
}

/**
 * Gets Node's own modules in place of importing them. For an import, Node reads every member, also those that nobody asks for: an import
 * of `node:http` makes Node 24 evaluate its own copy of undici, which takes 8 MiB of memory.
 */
const getNodesModules = {
  name: 'get-nodes-modules',
  renderChunk(code) {
    const imports = this.parse(code).body.filter(({ type, source }) => type === 'ImportDeclaration' && isBuiltin(source.value))
    return { code: imports.reduceRight((text, one) => text.slice(0, one.start) + gotten(one) + text.slice(one.end), code), map: null }
  },
}

/** Returns `const { METHODS: methods } = process.getBuiltinModule("node:http");` for `import { METHODS as methods } from 'node:http'`. */
function gotten({ source, specifiers }) {
  const from = `process.getBuiltinModule(${JSON.stringify(source.value)})`
  const named = specifiers.filter(({ type }) => type === 'ImportSpecifier')
  const whole = specifiers.filter(({ type }) => type !== 'ImportSpecifier').map(({ local }) => `const ${local.name} = ${from};`)
  return [...whole, ...(named.length === 0 ? [] : [`const { ${named.map(renamed).join(', ')} } = ${from};`])].join('')
}

function renamed({ imported, local }) {
  return `${imported.name}: ${local.name}`
}

/**
 * Each of these modules is a file together with all that it imports and that no module before it does. A start of `serve` loads a dozen
 * files then. Without this, each module that two commands share is a file of its own: Node would find 42 files.
 */
const GATHERED = [
  'dist/src/app/cli/run.js',
  'dist/mappings/index.js',
  'node_modules/fastify/fastify.js',
  'node_modules/undici/lib/dispatcher/agent.js',
  'node_modules/zod/index.js',
  'dist/src/app/cli/commands/serve.js',
].map((path, at, all) => ({ name: basename(path, '.js'), test: (id) => id === join(ROOT, path), priority: all.length - at }))

rmSync(FOLDER, { recursive: true, force: true })
await build({
  root: ROOT,
  configFile: false,
  logLevel: 'warn',
  plugins: [keepPlaces, getNodesModules],
  // The other form of this package asks for its parts by names that only Node resolves.
  resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
  ssr: { noExternal: true, external: APART },
  build: {
    ssr: true,
    outDir: FOLDER,
    target: 'node20',
    copyPublicDir: false,
    rolldownOptions: {
      input: PROGRAMS,
      onLog: (level, log, print) => {
        if (log.code === 'INEFFECTIVE_DYNAMIC_IMPORT') throw new Error(`What should load late loads at the start: ${log.message}`)
        print(level, log)
      },
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: '[name]-[hash].js',
        minify: SHORT,
        codeSplitting: { groups: GATHERED },
      },
    },
  },
})
