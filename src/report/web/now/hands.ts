import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

/** How the page changes something. Undefined in a file, on a port without tokens, and with a token that only reads. */
export interface Hands {
  /** Call it after a change: the page asks for what is in force. */
  readonly changed: () => void
}

export const HandsContext = createContext<Hands | undefined>(undefined)

export function useHands(): Hands | undefined {
  return useContext(HandsContext)
}
