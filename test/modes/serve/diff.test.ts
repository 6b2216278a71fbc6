import { describe, expect, it } from 'vitest'
import { createTerms } from '../../../src/migrate/modes/journal.ts'
import { createWatch, createWitnesses } from '../../../src/migrate/modes/serve.ts'
import type { Observer } from '../../../src/migrate/observe/observer.ts'
import type { ClientRequest } from '../../../src/serve/request.ts'
import type { Served } from '../../../src/serve/sides.ts'
import { operationOf } from '../../diff/given.ts'

const operation = operationOf('iam.roles.list')

/** Serves one streamed answer to a caller that v2 knows or not. Returns what the client gets, and what the observer was told. */
async function served(full: 'perSecond' | undefined, isAccepted: boolean) {
  const told: string[] = []
  const observer = {
    limit: 100,
    full: () => full,
    skip: (_: unknown, why: string, isUse?: boolean) => void told.push(isUse ? `${why} use` : why),
    look: () => void told.push('look'),
  } as unknown as Observer
  const witnesses = createWitnesses()
  if (isAccepted) witnesses.accepted.heard(operation, 'token', 200, 'v2')
  const request = {
    operation,
    caller: 'caller',
    credential: 'token',
    client: { aborted: false },
    read: () => ({ params: {}, query: new Map() }),
  } as unknown as ClientRequest
  async function* pieces() {
    yield Buffer.from('[]')
  }
  const answer: Served = { answer: { status: 200, headers: {}, stream: pieces() }, by: 'v2' }
  const given = createWatch(observer, witnesses, createTerms())('diff-v2', request).served(answer)
  if ('stream' in given.answer) for await (const _ of given.answer.stream);
  return { isSame: given === answer, told }
}

describe('a streamed answer in a diff mode', () => {
  it('is looked at when the client has it', async () => {
    expect(await served(undefined, true)).toEqual({ isSame: false, told: ['look'] })
  })

  it('is passed on as it is, and counted, when the rate is spent', async () => {
    expect(await served('perSecond', true)).toEqual({ isSame: true, told: ['perSecond use'] })
  })

  it.each([undefined, 'perSecond'] as const)('is that of a stranger if no service knows the caller (%s)', async (full) => {
    expect((await served(full, false)).told).toEqual(['stranger'])
  })
})
