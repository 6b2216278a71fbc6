import type { Block, Inline, Text } from './blocks.ts'

/** Writes a document in GitHub's Markdown. */
export function markdownOf(blocks: readonly Block[]): string {
  return `${blocks.map(block).join('\n\n')}\n`
}

function block(one: Block): string {
  switch (one.kind) {
    case 'heading':
      return `${'#'.repeat(one.level)} ${text(one.text)}`
    case 'text':
      return text(one.text)
    case 'list':
      return one.items.map((item) => `- ${one.boxes ? '[ ] ' : ''}${text(item)}`).join('\n')
    case 'table':
      return [row(one.head.map(escaped)), row(one.head.map(() => '---')), ...one.rows.map((cells) => row(cells.map(cell)))].join('\n')
    case 'shell':
      return ['```sh', ...one.lines, '```'].join('\n')
  }
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

/** A bar ends a cell, even within code. */
function cell(content: Text): string {
  return text(content).replaceAll('|', '\\|')
}

function text(parts: Text): string {
  return parts.map(inline).join('')
}

function inline(part: Inline): string {
  if (typeof part === 'string') return escaped(part)
  return 'code' in part ? codeSpan(part.code) : `**${escaped(part.strong)}**`
}

/** Plain text must not become markup. A bar is left to `cell`. */
function escaped(plain: string): string {
  return oneLine(plain).replace(/[\\`*[\]<>&~]|\b_|_\b|^[#+-]/g, (character) => `\\${character}`)
}

/** Code with backticks needs a longer fence. */
function codeSpan(content: string): string {
  const line = oneLine(content)
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const room = line.startsWith('`') || line.endsWith('`') ? ' ' : ''
  return `${fence}${room}${line}${room}${fence}`
}

function oneLine(plain: string): string {
  return plain.replace(/\s+/g, (gap) => (/[\r\n]/.test(gap) ? ' ' : gap))
}
