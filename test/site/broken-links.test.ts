import { describe, expect, it } from 'vitest'
import { brokenLinks } from '../../docs/site/broken-links.ts'

const site = (link: string) =>
  new Map([
    ['index.html', `<h1 id="top">A</h1><a class="term" href="${link}">b</a>`],
    ['docs/b.html', '<h2 id="part">B</h2><a href="../index.html#top">a</a>'],
    ['docs/c.css', ''],
  ])

describe('the check of the links', () => {
  it.each(['docs/b.html', 'docs/b.html#part', '#top', 'docs/c.css', 'https://www.rfc-editor.org/', 'mailto:a@example.com'])(
    'passes %s',
    (link) => {
      expect(brokenLinks(site(link))).toEqual([])
    },
  )

  it.each([
    ['docs/d.html', 'index.html: docs/d.html leads to no file'],
    ['docs/b.html#other', 'index.html: docs/b.html#other leads to no part of that page'],
    ['#other', 'index.html: #other leads to no part of that page'],
    ['../index.html', 'index.html: ../index.html leads to no file'],
    ['/docs/b.html', 'index.html: /docs/b.html begins at the root of a server'],
  ])('names %s', (link, sentence) => {
    expect(brokenLinks(site(link))).toEqual([sentence])
  })
})
