import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const page = readFileSync('CONTRIBUTING.md', 'utf8')

/** The words in backticks; fenced blocks are examples. */
const named = [...page.replace(/```.*?```/gs, '').matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => text)

describe('the page for contributors', () => {
  it('has a row for each layer and no other rows', () => {
    const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory())
    const rows = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, layer = '']) => layer)
    expect(rows.toSorted()).toEqual([...folders.map(({ name }) => name), 'mappings'].toSorted())
  })

  it('names only existing files and folders, apart from NAME', () => {
    const paths = named.flatMap((text) => text.match(/(?:^|(?<= ))(?:src|test|mappings|docs)\/[\w./-]+/g) ?? [])
    expect(paths.filter((path) => !path.includes('NAME') && !existsSync(path))).toEqual([])
  })

  it('names only scripts of package.json', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object }
    const used = [...page.matchAll(/npm run ([\w:]+)/g)].map(([, script = '']) => script)
    expect(used.filter((script) => !Object.hasOwn(scripts, script))).toEqual([])
  })
})
