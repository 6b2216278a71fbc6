const BEFORE = 40
const LONGEST = 150

/** Returns a piece of a text around the first of the words, with every word marked. */
export function excerptOf(text: string, words: readonly string[]): readonly (string | HTMLElement)[] {
  const lower = text.toLowerCase()
  const places = words.map((word) => lower.indexOf(word.toLowerCase())).filter((at) => at >= 0)
  const start = Math.max(0, Math.min(...(places.length > 0 ? places : [0])) - BEFORE)
  const piece = `${start > 0 ? '…' : ''}${text.slice(start, start + LONGEST)}${text.length > start + LONGEST ? '…' : ''}`
  if (words.length === 0) return [piece]
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`, 'gi')
  return piece.split(pattern).map((part, at) => (at % 2 === 0 ? part : marked(part)))
}

function marked(text: string): HTMLElement {
  const mark = document.createElement('mark')
  mark.textContent = text
  return mark
}
