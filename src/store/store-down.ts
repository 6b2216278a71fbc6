/**
 * The store did not answer, refused, or is no store. The message is a sentence for a person: it names the store without credentials.
 * Nothing is lost by it: what was sent may be sent again.
 */
export class StoreDown extends Error {
  override readonly name = 'StoreDown'
  /** The name of what somebody else put where the store keeps its own; undefined if that is not the reason. */
  readonly foreignKey: string | undefined

  constructor(message: string, foreignKey?: string) {
    super(message)
    this.foreignKey = foreignKey
  }
}
