import { seeded } from '../stage/seeded.ts'
import { readAll } from './reading.ts'
import { answerShapes } from './rows/answers.ts'
import { bodyShapes } from './rows/bodies.ts'
import { firstChunkShapes, lastChunkShapes } from './rows/chunks.ts'
import { codingShapes } from './rows/codings.ts'
import { connectionShapes } from './rows/connections.ts'
import { expectationShapes } from './rows/expectations.ts'
import { headerShapes } from './rows/headers.ts'
import { lengthShapes } from './rows/lengths.ts'
import { CARRIERS, type CarrierName, createMake, type Shape } from './rows/make.ts'
import { pipelineShapes } from './rows/pipelines.ts'
import { startShapes } from './rows/targets.ts'
import { upgradeShapes } from './rows/upgrades.ts'
import { credential } from './tokens.ts'

/** Shapes that are read in the same way on every carrier. The carriers take turns. */
const OF_THE_READER: readonly Shape[] = [...codingShapes, ...lengthShapes, ...startShapes, ...headerShapes, ...firstChunkShapes]

/** Shapes that each carrier handles in its own way. */
const OF_THE_CARRIER: readonly Shape[] = [
  ...lastChunkShapes,
  ...bodyShapes,
  ...expectationShapes,
  ...connectionShapes,
  ...upgradeShapes,
  ...pipelineShapes,
  ...answerShapes,
]

/** One odd exchange. Its last request asks to close the connection. */
export interface Row {
  readonly nr: number
  readonly name: string
  readonly carrier: CarrierName
  readonly parts: readonly string[]
  /** What a strict reader finds in its bytes. */
  readonly sent: ReturnType<typeof readAll>
}

/** Returns all rows, which are the same for the same seed. */
export function rowsFrom(seed: number): readonly Row[] {
  return rowsOf([...inTurn(OF_THE_READER), ...onEach(OF_THE_CARRIER)], seed)
}

interface Carried {
  readonly shape: Shape
  readonly carrier: CarrierName
}

/** Returns each shape on one carrier. */
export function inTurn(shapes: readonly Shape[]): readonly Carried[] {
  return shapes.map((shape, at) => ({ shape, carrier: CARRIERS[(at + Math.floor(at / CARRIERS.length)) % CARRIERS.length] ?? 'native' }))
}

/** Returns each shape on every carrier. */
export function onEach(shapes: readonly Shape[]): readonly Carried[] {
  return shapes.flatMap((shape) => CARRIERS.map((carrier) => ({ shape, carrier })))
}

export function rowsOf(carried: readonly Carried[], seed: number): readonly Row[] {
  return carried.map(({ shape, carrier }, nr) => {
    const make = createMake(nr, carrier, seeded(seed * 10_000 + nr))
    const probe = `GET ${make.targets.read} HTTP/1.1\r\nhost: garden\r\n${credential(`probe-${nr}`, 'ok')}\r\nconnection: close\r\n\r\n`
    const parts = [shape.bytes(make), probe].flat()
    return { nr, name: shape.name, carrier, parts, sent: readAll(parts.join('')) }
  })
}
