import type { Fields } from '../tables/fields.ts'
import type { Operation } from '../tables/operation.ts'
import type { V1OnlyShape } from '../tables/resource.ts'

/** A message as it is described: what v1 takes of it, and what v1 shows if that is more. */
export interface DescribedMessage {
  readonly name: string
  readonly fields: Fields
  readonly shown?: Fields
}

/** An operation as it is described. */
export interface DescribedOperation extends Omit<Operation, 'request' | 'answer' | 'envelope'> {
  readonly request?: DescribedMessage
  readonly answer?: DescribedMessage
  readonly envelope?: DescribedMessage
}

/** Returns the operation with its shape, where v1 alone serves it and its contract is known. */
export function describedOperation(operation: Operation, shape: V1OnlyShape | undefined): DescribedOperation {
  return { ...operation, ...shape }
}
