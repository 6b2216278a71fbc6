import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const page = readFileSync('CONTRIBUTING.md', 'utf8')

describe('the page for contributors', () => {
  it('has a row for each room and no other rows', () => {
    const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory())
    const rows = [...page.matchAll(/^\| `([\w/]+)` \|/gm)].map(([, room = '']) => room)
    expect(rows.toSorted()).toEqual([...folders.map(({ name }) => name), 'mappings', 'docs/site'].toSorted())
  })
})

describe('the page of the architecture', () => {
  const text = readFileSync('docs/why/architecture.md', 'utf8')
  const quoted = [...text.matchAll(/`((?:src|mappings)\/[\w./-]+)`:\n\n```ts\n(.*?)```/gs)].map(([, file = '', code = '']) => ({
    file,
    code,
  }))

  it('shows code at every stop', () => {
    expect(quoted.length).toBe([...text.matchAll(/```ts/g)].length)
    expect(quoted.length).toBeGreaterThan(8)
  })

  it.each(quoted)('quotes lines of $file', ({ file, code }) => {
    const lines = new Set(readFileSync(file, 'utf8').split('\n'))
    expect(code.split('\n').filter((line) => line !== '' && !lines.has(line))).toEqual([])
  })
})
