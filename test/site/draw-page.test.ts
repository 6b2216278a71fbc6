import { describe, expect, it } from 'vitest'
import { createDrawPage } from '../../docs/site/render/draw-page.ts'
import type { Targets } from '../../docs/site/render/links.ts'

const targets: Targets = {
  places: new Map([
    ['README.md', 'index.html'],
    ['docs/a.md', 'docs/a.html'],
  ]),
  terms: new Map([
    ['limits.deadlineMs', 'settings.html#limitsdeadlinems'],
    ['own', 'docs/a.html#part'],
  ]),
  isFile: (path) => path === 'src/app/server/server.ts',
  fileUrl: () => undefined,
}

const drawn = (markdown: string) => createDrawPage()({ source: 'docs/a.md', path: 'docs/a.html', markdown }, targets)

describe('a page of the site', () => {
  it('leads links of documents to pages, with their anchors', () => {
    expect(drawn('[x](../README.md#try-it)').html).toBe('<p><a href="../index.html#try-it">x</a></p>\n')
  })

  it('leaves the words of a link to a file that the site cannot show', () => {
    expect(drawn('see [`server`](../src/app/server/server.ts).').html).toBe('<p>see <code>server</code>.</p>\n')
  })

  it('leaves a link to nothing to the check of the links', () => {
    expect(drawn('[x](gone.md)').html).toContain('href="gone.md"')
  })

  it('makes a link of code that stands for a setting, but not within a heading or a link', () => {
    const link = '<a class="term" href="../settings.html#limitsdeadlinems"><code>limits.deadlineMs</code></a>'
    expect(drawn('`limits.deadlineMs`').html).toContain(link)
    expect(drawn('[`limits.deadlineMs`](../README.md)\n\n## `limits.deadlineMs`').html).not.toContain('settings.html')
    expect(drawn('`own`').html).toContain('href="#part"')
  })

  it('gives headings the anchors of GitHub, and repeated ones a number', () => {
    expect(drawn("# V2's `a.b`, told\n\n## Same\n\n## Same").headings.map(({ id }) => id)).toEqual(['v2s-ab-told', 'same', 'same-1'])
  })

  it('cuts its text into what is below each heading', () => {
    const { title, sections } = drawn('# T\n\none `limits.deadlineMs`.\n\n## Two words\n\n```sh\ncurl x\n```\n')
    expect([title, sections]).toEqual([
      'T',
      [
        { id: '', heading: '', text: 'one limits.deadlineMs.' },
        { id: 'two-words', heading: 'Two words', text: 'curl x' },
      ],
    ])
  })

  it('lets the keys scroll every block of code, fenced or indented', () => {
    const block = '<pre tabindex="0"><code>x &lt; y</code></pre>'
    expect([drawn('```\nx < y\n```').html, drawn('    x < y').html]).toEqual([`${block}\n`, `${block}\n`])
    expect(drawn('    x < y').sections[0]?.text).toBe('x < y')
  })

  it('has no style of its own, which its policy forbids', () => {
    expect(drawn('| a |\n|--:|\n| 1 |').html).toContain('<td class="right">')
  })
})
