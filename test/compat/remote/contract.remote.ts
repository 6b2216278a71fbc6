import { beforeAll, describe, inject, test } from 'vitest'
import { cases } from '../cases/index.ts'
import { run } from '../run.ts'
import type { Target } from '../target.ts'
import { readFlags } from './flags.ts'
import { playable, remoteTarget } from './target.ts'

const flags = readFlags(inject('contract'))
const chosen = playable(cases, flags)

describe(`the v1 contract at ${flags.target} over ${flags.over}, ${flags.dialect} dialect`, () => {
  let target: Target

  beforeAll(async () => {
    target = await remoteTarget(flags, console.log)
    console.log(`${chosen.length} of ${cases.length} cases, in organization ${target.organization}`)
  })

  test.each(chosen)('$name', async (one) => {
    const { failure } = await run(one, target)
    if (failure) throw failure
  })
})
