import pLimit from 'p-limit'
import { placesOf } from '../judge/places.ts'
import type { Bench } from '../reads/bench.ts'
import { count, type Tally } from '../score/tally.ts'
import type { Received } from '../stage/differ.ts'
import type { OddList } from './odd-lists.ts'

/** The headers of strangers: a wrong token, and none. */
const STRANGERS: readonly Readonly<Record<string, string>>[] = [{ authorization: 'Bearer wrong' }, {}]

/** Reads at the same time. */
const PARALLEL = 12

/** Reads lists that need a credential as strangers. They are not compared, so their answers are held against those of genuine v1 here. */
export async function readAsStrangers({ sandbox, oracle }: Bench, lists: readonly OddList[], tally: Tally): Promise<void> {
  const limit = pLimit(PARALLEL)
  const read = async (path: string, headers: Readonly<Record<string, string>>) => {
    const [genuine, proxied] = await Promise.all([sandbox.url, oracle.proxy.url].map((url) => receive(url + path, headers)))
    const reason = problemOf(genuine as Received, proxied as Received)
    count(tally, reason === undefined ? { is: 'silent' } : { is: 'flagged', reason }, `a stranger, GET ${path}`)
  }
  const guarded = lists.filter(({ operation }) => !operation.takesNoToken)
  await Promise.all(guarded.flatMap(({ path }) => STRANGERS.map((headers) => limit(() => read(path, headers)))))
}

/** A stranger is refused like by v1, or for the request by the proxy itself, which is declared. */
function problemOf(genuine: Received, proxied: Received): string | undefined {
  if (genuine.status === 401 && proxied.status === 400) return undefined
  const places = placesOf(genuine, proxied)
  return places.length === 0 ? undefined : `${genuine.status}×${proxied.status} ${places.map(({ at }) => at).join(', ')}`
}

async function receive(url: string, headers: Readonly<Record<string, string>>): Promise<Received> {
  const answer = await fetch(url, { headers })
  return { status: answer.status, type: answer.headers.get('content-type') ?? undefined, text: await answer.text() }
}
