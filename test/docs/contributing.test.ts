import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const page = readFileSync('CONTRIBUTING.md', 'utf8')

describe('the page for contributors', () => {
  it('has a row for each layer and no other rows', () => {
    const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory())
    const rows = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, layer = '']) => layer)
    expect(rows.toSorted()).toEqual([...folders.map(({ name }) => name), 'mappings', 'site'].toSorted())
  })
})
