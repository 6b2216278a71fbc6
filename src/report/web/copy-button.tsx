import { useEffect, useState } from 'preact/hooks'

interface Props {
  /** The text that is copied. */
  readonly text: string
  /** Names the text for screen readers, after "Copy": `the v1 URL`. */
  readonly what: string
}

type Said = 'Copy' | 'Copied' | 'Not copied'

/** Time after which the button may be read as new. */
const SAID_MS = 2_500

/** Copies a text to the clipboard, and says so, also to screen readers. */
export function CopyButton({ text, what }: Props) {
  const [said, say] = useState<Said>('Copy')
  useEffect(() => {
    if (said === 'Copy') return
    const timer = setTimeout(() => say('Copy'), SAID_MS)
    return () => clearTimeout(timer)
  }, [said])
  return (
    <span class="copy">
      <button type="button" class={`copy-button ${said === 'Copied' ? 'is-copied' : ''}`} onClick={() => void copied(text).then(say)}>
        <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <path d={said === 'Copied' ? DONE : SHEETS} />
        </svg>
        {said}
        <span class="visually-hidden"> {what}</span>
      </button>
      <span role="status" class="visually-hidden">
        {said === 'Copy' ? '' : `${said}: ${what}`}
      </span>
    </span>
  )
}

const SHEETS = 'M6 5.5H12.5V13.5H6ZM9.5 5.5V2.5H3.5V10.5H6'
const DONE = 'M3.5 8.5 6.5 11.5 12.5 4.5'

async function copied(text: string): Promise<Said> {
  try {
    await navigator.clipboard.writeText(text)
    return 'Copied'
  } catch {
    return copiedBySelection(text) ? 'Copied' : 'Not copied'
  }
}

/** Browsers have no clipboard on a page from another machine without TLS, but copy what is selected. */
function copiedBySelection(text: string): boolean {
  const focused = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'visually-hidden'
  document.body.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isCopied
}
