import { type Child, cpuMs } from '../child.ts'
import type { Run } from '../report/figure.ts'
import { median } from '../report/statistics.ts'

/** A request that one proxy is asked again and again. */
export interface Question {
  readonly what: string
  readonly proxy: Child
  readonly path: string
  readonly init: RequestInit
}

/** Processor time of the questions, each named by its place among them. */
export interface TurnTimes {
  /** The median of one question, in microseconds for a request. */
  time(at: number): number
  /** The median over the turns of one question's time divided by that of another. */
  ratio(at: number, by: number): number
}

/** Requests of one turn, one after the other. */
const TURN = 100

const LAUNCHES = 5

/** What is asked in one launch, and what ends its processes. */
export interface Launched {
  readonly questions: readonly Question[]
  stop(): Promise<void>
}

/**
 * Launches the processes anew again and again, and asks all questions in turns, so that other work of the machine affects all of them. Each
 * has one request at a time. A figure is the median over the launches.
 */
export async function inTurns(launch: () => Promise<Launched>, { short }: Run): Promise<TurnTimes> {
  const launches: TurnTimes[] = []
  for (let nth = 0; nth < (short ? 1 : LAUNCHES); nth += 1) {
    const { questions, stop } = await launch()
    launches.push(await turnsOf(questions, short ? 3 : 12))
    await stop()
  }
  return {
    time: (at) => median(launches.map(({ time }) => time(at))),
    ratio: (at, by) => median(launches.map(({ ratio }) => ratio(at, by))),
  }
}

async function turnsOf(questions: readonly Question[], count: number): Promise<TurnTimes> {
  const turns: (readonly number[])[] = []
  for (let nth = 0; nth < count; nth += 1) {
    const turn: number[] = []
    for (const question of questions) turn.push(await micros(question))
    turns.push(turn)
  }
  // The first turns compile.
  const warm = turns.slice(turns.length / 3)
  const timeIn = (turn: readonly number[], at: number) => turn[at] ?? Number.NaN
  return {
    time: (at) => median(warm.map((turn) => timeIn(turn, at))),
    ratio: (at, by) => median(warm.map((turn) => timeIn(turn, at) / timeIn(turn, by))),
  }
}

/** Throws if an answer is no success. */
async function micros({ proxy, path, init }: Question): Promise<number> {
  const before = cpuMs(proxy.pid)
  for (let nth = 0; nth < TURN; nth += 1) {
    const answer = await fetch(proxy.url + path, init)
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${init.method ?? 'GET'} ${path}: ${text}`)
  }
  return ((cpuMs(proxy.pid) - before) * 1000) / TURN
}
