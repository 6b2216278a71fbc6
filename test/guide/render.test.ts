import { describe, expect, it } from 'vitest'
import { type Block, htmlPage, markdownOf, prose } from '../../src/tools/guide-pages.ts'

const HOSTILE = '<script>alert(1)</script> `x` | **b** [a](javascript:1) & \n# not a heading'

const blocks: readonly Block[] = [
  { kind: 'heading', level: 1, text: [HOSTILE] },
  { kind: 'text', text: [{ code: 'a`b|c' }, ' ', HOSTILE] },
  { kind: 'table', label: HOSTILE, head: ['x'], rows: [[[{ code: 'a|b' }]], [[HOSTILE]]] },
]

describe('a guide in Markdown', () => {
  it('takes no text of a client for markup', () => {
    const lines = markdownOf(blocks).split('\n')
    expect(lines[0]).toBe('# \\<script\\>alert(1)\\</script\\> \\`x\\` | \\*\\*b\\*\\* \\[a\\](javascript:1) \\& # not a heading')
    expect(lines[2]).toMatch(/^``a`b\|c`` \\<script/)
    expect(lines.slice(4)).toEqual(['| x |', '| --- |', '| `a\\|b` |', expect.stringMatching(/^\| \\<script.* \\\| .* \|$/), ''])
  })

  it('keeps code in our own prose', () => {
    expect(markdownOf([{ kind: 'text', text: prose('`id` is `uid`.') }])).toBe('`id` is `uid`.\n')
  })
})

describe('a guide as a page', () => {
  it('runs nothing and loads nothing', () => {
    const page = htmlPage(HOSTILE, blocks)
    expect(page).not.toMatch(/<script|javascript:1"|<b>/)
    expect(page).toMatch(/content="default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'"/)
    expect(page).not.toMatch(/(?:src|href)="(?!data:,)/)
  })
})
