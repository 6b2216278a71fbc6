import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Report } from '../../report.ts'
import { Brand } from '../brand.tsx'
import { createAsk, hasToken, keepToken } from '../live/ask-live.ts'

interface Props {
  /** Where the proxy returns the report. */
  readonly address: string
  readonly onReport: (report: Report) => void
}

/** Guards the report of a proxy that asks for a token. It tries the token of the tab, then asks for another. */
export function Gate({ address, onReport }: Props) {
  const [said, say] = useState('')
  const input = useRef<HTMLInputElement>(null)
  const ask = useCallback(async () => {
    try {
      const answer = await createAsk(address)(true)
      if (answer.kind === 'report') onReport(answer.report)
      else say('The proxy does not know this token.')
    } catch (error) {
      say(`Not shown: ${(error as Error).message}`)
    }
  }, [address, onReport])
  useEffect(() => {
    document.title = 'Token – Crosswalk report'
    input.current?.focus()
    if (hasToken()) void ask()
  }, [ask])
  const submit = (event: Event) => {
    event.preventDefault()
    keepToken(input.current?.value.trim() ?? '')
    void ask()
  }
  return (
    <>
      <header>
        <div class="top">
          <Brand />
        </div>
      </header>
      <main id="main">
        <h1>This report asks for a token</h1>
        <form class="gate" onSubmit={submit}>
          <p>
            The admin port of this proxy shows it to whoever has the token of <code>admin.readToken</code> or <code>admin.token</code>. This
            tab keeps it until it is closed.
          </p>
          <label for="token">Token</label>
          <div>
            <input ref={input} id="token" type="password" autocomplete="off" spellcheck={false} required aria-describedby="said" />
            <button type="submit">Show the report</button>
          </div>
          <p id="said" role="status">
            {said}
          </p>
        </form>
      </main>
    </>
  )
}
