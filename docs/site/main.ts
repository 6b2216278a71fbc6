import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { tables } from '../../mappings/index.ts'
import { guideContext } from '../../src/app/cli/commands/clients.ts'
import { configWith } from '../../src/app/config/config.ts'
import { buildAssets } from './assets.ts'
import { brokenLinks } from './broken-links.ts'
import { asSiteTables } from './generated/site-tables.ts'
import { makeSite } from './make-site.ts'

const HELP = `npm run site -- [--out FOLDER]

  Makes the site of the documents. Any file server can serve the folder, under any path. Default: .site/pages`

const { values } = parseArgs({ options: { out: { type: 'string', default: '.site/pages' }, help: { type: 'boolean' } } })
if (values.help) console.log(HELP)
else await writeSite(resolve(values.out))

async function writeSite(out: string): Promise<void> {
  const siteTables = asSiteTables(tables, guideContext(configWith({}), tables))
  const files = new Map([...(await makeSite(process.cwd(), siteTables)), ...(await buildAssets(process.cwd()))])
  const broken = brokenLinks(files)
  for (const sentence of broken) console.error(sentence)
  if (broken.length > 0) {
    console.error(`${broken.length} links lead nowhere, so no site was written`)
    process.exitCode = 1
    return
  }
  rmSync(out, { recursive: true, force: true })
  for (const [path, content] of files) {
    mkdirSync(dirname(join(out, path)), { recursive: true })
    writeFileSync(join(out, path), content)
  }
  const pages = [...files.keys()].filter((path) => path.endsWith('.html')).length
  console.log(`${pages} pages, every link of which leads somewhere, are in ${out}`)
}
