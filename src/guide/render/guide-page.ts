import { htmlDocument, sourceOf } from '../../html/html-document.ts'
import type { Block, Inline, Text } from './blocks.ts'
import { STYLE } from './page-style.ts'

/** Writes a document as one HTML page that loads nothing and runs nothing. */
export function htmlPage(title: string, blocks: readonly Block[]): string {
  const policy = `default-src 'none'; style-src ${sourceOf(STYLE)}; base-uri 'none'; form-action 'none'`
  const body = `<main>\n${blocks.map(block).join('\n')}\n</main>`
  return htmlDocument({ title: escaped(title), policy, style: STYLE, body })
}

function block(one: Block): string {
  switch (one.kind) {
    case 'heading':
      return `<h${one.level}>${text(one.text)}</h${one.level}>`
    case 'text':
      return `<p>${text(one.text)}</p>`
    case 'list':
      return `<ul${one.boxes ? ' class="boxes"' : ''}>\n${one.items.map((item) => `<li>${text(item)}</li>`).join('\n')}\n</ul>`
    case 'table':
      return table(one)
    case 'shell':
      return `<pre><code>${one.lines.map(shellLine).join('\n')}</code></pre>`
  }
}

/** A wide table scrolls within its box, by keyboard too. */
function table({ label, head, rows }: Extract<Block, { readonly kind: 'table' }>): string {
  const cells = (content: readonly Text[]) =>
    content.map((cell, at) => (at === 0 ? `<th scope="row">${text(cell)}</th>` : `<td>${text(cell)}</td>`))
  return `<div class="table" tabindex="0" role="region" aria-label="${escaped(label)}"><table>
<thead><tr>${head.map((name) => `<th scope="col">${escaped(name)}</th>`).join('')}</tr></thead>
<tbody>
${rows.map((content) => `<tr>${cells(content).join('')}</tr>`).join('\n')}
</tbody>
</table></div>`
}

function shellLine(line: string): string {
  return line.startsWith('#') ? `<span class="remark">${escaped(line)}</span>` : escaped(line)
}

function text(parts: Text): string {
  return parts.map(inline).join('')
}

function inline(part: Inline): string {
  if (typeof part === 'string') return escaped(part)
  // A long name may break behind its dots, and nowhere else.
  return 'code' in part ? `<code>${escaped(part.code).replace(/\.(?=\w)/g, '.<wbr>')}</code>` : `<strong>${escaped(part.strong)}</strong>`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(plain: string): string {
  return plain.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
