import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { type Change, makeChange } from './change.ts'
import { useHands } from './hands.ts'

interface ButtonProps {
  readonly label: string
  readonly change: Change
}

/** Changes something at once. Nothing is drawn where the page may change nothing. */
export function ChangeButton({ label, change }: ButtonProps) {
  const { hands, problem, isBusy, make } = useChange()
  if (!hands) return null
  return (
    <>
      <button type="button" disabled={isBusy} onClick={() => void make(change)}>
        {label}
      </button>
      <span role="status" class="wrong">
        {problem}
      </span>
    </>
  )
}

interface ConfirmProps extends ButtonProps {
  readonly title: string
  /** Says what will happen. */
  readonly children: ComponentChildren
}

/** Changes something after the reader has confirmed what will happen. What is confirmed is what was in force when the dialog opened. */
export function ConfirmButton({ label, title, change, children }: ConfirmProps) {
  const { hands, problem, isBusy, make, forget } = useChange()
  const dialog = useRef<HTMLDialogElement>(null)
  const [shown, setShown] = useState<{ readonly change: Change; readonly children: ComponentChildren } | undefined>(undefined)
  const id = useId()
  if (!hands) return null
  const open = () => {
    setShown({ change, children })
    forget()
    dialog.current?.showModal()
  }
  const confirm = async () => {
    if (shown && (await make(shown.change))) dialog.current?.close()
  }
  return (
    <>
      <button type="button" class="danger" onClick={open}>
        {label}
      </button>
      <dialog ref={dialog} aria-labelledby={id}>
        <h2 id={id}>{title}</h2>
        {shown?.children}
        <p role="alert" class="wrong">
          {problem}
        </p>
        <div class="dialog-buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            {problem === undefined ? 'Cancel' : 'Close'}
          </button>
          {problem === undefined && (
            <button type="button" class="danger is-filled" disabled={isBusy} onClick={() => void confirm()}>
              {label}
            </button>
          )}
        </div>
      </dialog>
    </>
  )
}

function useChange() {
  const hands = useHands()
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const make = async (change: Change): Promise<boolean> => {
    setBusy(true)
    const said = await makeChange(change)
    setBusy(false)
    setProblem(said)
    hands?.changed()
    return said === undefined
  }
  return { hands, problem, isBusy, make, forget: () => setProblem(undefined) }
}
