import type { Operation } from '../../tables/operation.ts'
import type { DifferenceRow, ReplayedOperation } from './replayed.ts'
import { byRequests, type OperationRequests } from './request-group.ts'

/** Adds up the requests of each operation. */
export interface OperationSums {
  /** `calls` is the number of v2 calls of all these requests. */
  add(group: OperationRequests, calls: number): void
  rows(): readonly ReplayedOperation[]
}

interface Sum {
  readonly operation: Operation
  requests: number
  v2Calls: number
  refused: number
  readonly parameters: Map<string, number>
  readonly members: Map<string, number>
}

export function createOperationSums(differencesOf: (operation: string) => readonly string[]): OperationSums {
  const sums = new Map<string, Sum>()
  return {
    add(group, calls) {
      const { operation } = group
      const sum = sums.get(operation.id) ?? newSum(operation)
      sums.set(operation.id, sum)
      addTo(sum, group, calls)
    },
    rows: () => [...sums.values()].map((sum) => rowOf(sum, differencesOf(sum.operation.id))).sort(byRequests),
  }
}

function newSum(operation: Operation): Sum {
  return { operation, requests: 0, v2Calls: 0, refused: 0, parameters: new Map(), members: new Map() }
}

function addTo(sum: Sum, { times, cost, droppedParameters = [], droppedMembers = [] }: OperationRequests, calls: number): void {
  sum.requests += times
  sum.v2Calls += calls
  if (cost.refused) sum.refused += times
  for (const name of new Set(droppedParameters)) sum.parameters.set(name, (sum.parameters.get(name) ?? 0) + times)
  for (const { member, because } of droppedMembers) {
    const name = `${member.replace(/\[\d+\]/g, '[]')} (${because})`
    sum.members.set(name, (sum.members.get(name) ?? 0) + times)
  }
}

function rowOf({ operation, requests, v2Calls, refused, parameters, members }: Sum, differences: readonly string[]): ReplayedOperation {
  const { id, kind, because } = operation
  return {
    operation: id,
    kind,
    requests,
    v2Calls: Math.round(v2Calls),
    refused,
    droppedParameters: Object.fromEntries(parameters),
    droppedMembers: Object.fromEntries(members),
    differences,
    ...(because !== undefined && { because }),
  }
}

/** Requests of operations that may show each difference; `seenOf` tells what a client sees of it. */
export function differenceRows(operations: readonly ReplayedOperation[], seenOf: (code: string) => string): readonly DifferenceRow[] {
  const codes = new Map<string, number>()
  for (const { differences, requests } of operations) {
    for (const code of differences) codes.set(code, (codes.get(code) ?? 0) + requests)
  }
  return [...codes].map(([code, requests]) => ({ code, requests, seen: seenOf(code) })).sort(byRequests)
}
