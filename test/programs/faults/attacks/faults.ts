import type { Fault } from '../fault.ts'
import { adminAttacks, targetAttacks, tokenGuesses } from './admin.ts'
import { connectionAttacks, placeAttacks } from './connections.ts'
import { evidenceAttacks, growthAttacks, memoryAttacks } from './evidence.ts'
import { codingAttacks, frameAttacks, headAttacks } from './frames.ts'
import { rpcAttacks, sharedCallAttacks, stagedAnswers } from './shared.ts'
import { smugglingAttacks } from './smuggling.ts'
import { loopAttacks } from './streams.ts'

export const attackFaults: readonly Fault[] = [
  ...rpcAttacks,
  ...targetAttacks,
  ...sharedCallAttacks,
  ...codingAttacks,
  ...headAttacks,
  ...frameAttacks,
  ...loopAttacks,
  ...growthAttacks,
  ...evidenceAttacks,
  ...adminAttacks,
  ...tokenGuesses,
  ...connectionAttacks,
  ...placeAttacks,
  ...memoryAttacks,
  ...stagedAnswers,
  ...smugglingAttacks,
]
