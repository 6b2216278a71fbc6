import type { PasteText } from '../../next-step/commands.ts'
import { CopyButton } from '../copy-button.tsx'

/** Texts to paste, each behind its title. */
export function PasteList({ texts }: { readonly texts: readonly PasteText[] }) {
  return texts.map((one) => (
    <details key={one.title}>
      <summary>{one.title}</summary>
      <Paste name={one.title} text={one.text} />
    </details>
  ))
}

/** One text to paste, with a button that copies it. `name` says what it is for. */
export function Paste({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div class="paste">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line scrolls, and the keyboard must reach it */}
      <section class="paste-text" tabIndex={0} aria-label={name}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
      <CopyButton text={text} what={`the text: ${name}`} />
    </div>
  )
}
