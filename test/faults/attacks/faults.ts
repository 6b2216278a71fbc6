import type { Fault } from '../fault.ts'
import { adminAttacks } from './admin.ts'
import { codingAttacks } from './codings.ts'
import { connectionAttacks } from './connections.ts'
import { evidenceAttacks } from './evidence.ts'
import { frameAttacks } from './frames.ts'
import { growthAttacks } from './growth.ts'
import { headAttacks } from './heads.ts'
import { loopAttacks } from './loops.ts'
import { memoryAttacks } from './memory.ts'
import { placeAttacks } from './places.ts'
import { rpcAttacks } from './rpc/rpc-calls.ts'
import { sharedCallAttacks } from './shared-calls.ts'
import { smugglingAttacks } from './smuggling/smuggling.ts'
import { stagedAnswers } from './staged-answers.ts'
import { targetAttacks } from './targets.ts'
import { tokenGuesses } from './token-guesses.ts'

/** Attacks without a token, one file for each kind. */
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
