import { join } from 'node:path'
import { build } from 'vite'
import type { SiteFiles } from './broken-links.ts'

/** The scripts: one that a page waits for, because it chooses the theme, and one that it does not wait for. */
const SCRIPTS = ['theme', 'site'] as const

/** Builds the scripts and the style of the site. They load nothing from elsewhere. */
export async function buildAssets(root: string): Promise<SiteFiles> {
  const built = await Promise.all(SCRIPTS.map((name) => buildScript(join(root, 'docs/site/web'), name)))
  return new Map(built.flat())
}

async function buildScript(web: string, name: (typeof SCRIPTS)[number]): Promise<readonly (readonly [string, string | Uint8Array])[]> {
  const result = await build({
    configFile: false,
    root: web,
    logLevel: 'warn',
    build: {
      write: false,
      target: 'es2022',
      lib: { entry: `${name}.ts`, formats: ['iife'], name: 'crosswalkSite', fileName: () => `${name}.js`, cssFileName: 'site' },
    },
  })
  const outputs = Array.isArray(result) ? result : 'output' in result ? [result] : []
  return outputs.flatMap(({ output }) =>
    output.map((file) => [`assets/${file.fileName}`, file.type === 'chunk' ? file.code : file.source] as const),
  )
}
