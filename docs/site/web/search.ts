import MiniSearch, { type SearchResult } from 'minisearch'
import type { FoundPart } from '../render/search-script.ts'
import { excerptOf } from './excerpt.ts'

declare global {
  var crosswalkParts: readonly FoundPart[] | undefined
}

const MOST_RESULTS = 12

/** Words of names too: `iam.roles.list` is found by itself, by `roles` and by `list`; `limits.deadlineMs` by `deadline`. */
const WORDS = /[\s.,;:!?()[\]{}<>"'`/=&|_–—-]+|(?<=[a-z])(?=[A-Z])/

/** Makes the search field work. What it searches is loaded when somebody begins to use it, from beside the page. */
export function prepareSearch(): void {
  const field = document.querySelector<HTMLInputElement>('.search input')
  const found = document.querySelector<HTMLElement>('.found')
  if (!field || !found) return
  field.hidden = false
  let loaded: Promise<MiniSearch> | undefined
  const show = async () => {
    loaded ??= load()
    const text = field.value.trim()
    const index = await loaded
    if (text !== field.value.trim()) return
    found.hidden = text === ''
    found.replaceChildren(...(text === '' ? [] : drawn(text, index)))
  }
  field.addEventListener('input', () => void show())
  field.addEventListener('focus', () => void show())
  document.addEventListener('keydown', (event) => onKey(event, field, found))
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Node && !field.parentElement?.contains(target)) found.hidden = true
  })
}

function onKey(event: KeyboardEvent, field: HTMLInputElement, found: HTMLElement): void {
  const isTyping = event.target instanceof HTMLInputElement
  if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey) {
    event.preventDefault()
    field.focus()
    return
  }
  if (found.hidden) return
  if (event.key === 'Escape') {
    found.hidden = true
    return
  }
  const links = [...found.querySelectorAll('a')]
  const at = links.indexOf(document.activeElement as HTMLAnchorElement)
  if (event.key === 'Enter' && isTyping) links[0]?.click()
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  event.preventDefault()
  const next = at + (event.key === 'ArrowDown' ? 1 : -1)
  if (next < 0) field.focus()
  else links[next]?.focus()
}

/** The way from this page to the first page of the site. */
const root = () => document.documentElement.dataset.root ?? './'

async function load(): Promise<MiniSearch> {
  await new Promise((done, failed) => {
    const script = Object.assign(document.createElement('script'), { src: `${root()}assets/search-data.js`, onload: done, onerror: failed })
    document.head.append(script)
  })
  const index = new MiniSearch<Record<string, unknown>>({
    fields: ['heading', 'title', 'text'],
    storeFields: ['path', 'title', 'heading', 'text'],
    tokenize: (text) => [...new Set([...text.split(/\s+/), ...text.split(WORDS)])].filter((word) => word !== ''),
    searchOptions: {
      boost: { title: 3, heading: 4 },
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: 'AND',
      tokenize: (text) => text.split(/\s+/).filter((word) => word !== ''),
    },
  })
  index.addAll((globalThis.crosswalkParts ?? []).map(([path, title, heading, text], id) => ({ id, path, title, heading, text })))
  return index
}

function drawn(text: string, index: MiniSearch): readonly HTMLElement[] {
  const results = index.search(text).slice(0, MOST_RESULTS)
  if (results.length > 0) return results.map(resultLink)
  const nothing = document.createElement('p')
  nothing.textContent = `Nothing is said of “${text}”.`
  return [nothing]
}

function resultLink(result: SearchResult): HTMLElement {
  const link = document.createElement('a')
  link.href = root() + String(result.path)
  const title = document.createElement('strong')
  title.textContent = result.heading ? `${result.title} › ${result.heading}` : String(result.title)
  const excerpt = document.createElement('span')
  excerpt.append(...excerptOf(String(result.text), result.terms))
  link.append(title, excerpt)
  return link
}
