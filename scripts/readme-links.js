/**
 * `prepack` and `postpack`, while package.json names no repository: the page of a registry then cannot tell where README's relative links
 * lead. The packed README gets the addresses of the files of its own version at unpkg.com. `--undo` makes the one in the tree as it was.
 */
import { readFileSync, writeFileSync } from 'node:fs'

const { name, version, repository } = JSON.parse(readFileSync('package.json', 'utf8'))
const files = `https://unpkg.com/${name}@${version}/`
const readme = readFileSync('README.md', 'utf8')

if (process.argv.includes('--undo')) write(readme.replaceAll(`](${files}`, ']('))
else if (repository === undefined) write(readme.replace(/\]\((?!#|[a-z]+:)/g, `](${files}`))

function write(text) {
  if (text !== readme) writeFileSync('README.md', text)
}
