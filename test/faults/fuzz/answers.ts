import fc, { type Arbitrary } from 'fast-check'
import { mappings } from '../../../mappings/index.ts'
import { ApiError, asApiError } from '../../../src/errors.ts'
import { type Answer, answer, begin, bytesOf, refusal, type TranslateSettings } from '../../../src/serve/answer.ts'
import { createCalls } from '../../../src/serve/calls.ts'
import type { JsonObject } from '../../../src/tables/json.ts'
import type { Operation, V1Request } from '../../../src/tables/operation.ts'
import type { Call } from '../../../src/tables/turn.ts'
import { sending } from '../../translate/sends.ts'
import { errorIn } from '../say.ts'
import type { Fuzzed } from './over-http.ts'
import { answersOf, textOf, uids } from './v2-forms.ts'

const operations = new Map<string, Operation>(
  mappings.flatMap((mapping) =>
    mapping.operations.filter(({ begin }) => begin !== undefined).map((operation) => [operation.id, operation]),
  ),
)

/** Enough for every plan; an endless walk over pages soon reaches it. */
const limits = { callsPerRequest: 40, parallelCalls: 8, bufferedRows: 1, rowsPerRequest: 1000 }

const settings: Arbitrary<TranslateSettings> = fc.record({
  dialect: fc.constantFrom('specification' as const, 'published' as const),
  maskCase: fc.constantFrom('snake' as const, 'camel' as const),
  replaceMask: fc.constantFrom('*' as const, 'known' as const),
  readmes: fc.boolean(),
  notFound: fc.constantFrom('empty' as const, 'error' as const),
  unknownParameters: fc.constant('drop' as const),
  limits: fc.constant(limits),
})

type Pairs = readonly (readonly [string, readonly string[]])[]

const QUERIES: readonly Pairs[] = [
  [],
  [['limit', ['2']]],
  [['page_size', ['3']]],
  [['id', ['a'.repeat(40)]]],
  [['uidp.children_of', ['a'.repeat(40)]]],
]

function requestOf({ template, method }: Operation): Arbitrary<V1Request> {
  const names = [...template.matchAll(/\{([^}=]+)/g)].map(([, name = '']) => name)
  const params = fc.record(Object.fromEntries(names.map((name) => [name, uids])))
  const query = fc.constantFrom(...QUERIES).map((pairs) => new Map(pairs))
  const body = method === 'GET' || method === 'DELETE' ? fc.constant(undefined) : fc.oneof(fc.jsonValue(), fc.constant({ name: 'x' }))
  return fc.record({ params, query, body })
}

const cases = fc.oneof(
  ...[...operations.values()].map((operation) =>
    fc.record({
      id: fc.constant(operation.id),
      request: requestOf(operation),
      answers: fc.array(answersOf(operation), { minLength: 1, maxLength: 4 }),
      chosen: settings,
    }),
  ),
)

/**
 * Gives random v2 answers to the translators. It fails if one throws, answers an error of our own, or leaves v1's form.
 * The exception names the seed and the smallest case.
 */
export async function fuzzAnswers(numRuns: number, seed: number): Promise<Fuzzed> {
  const statuses: Record<string, number> = {}
  const property = fc.asyncProperty(cases, async ({ id, request, answers, chosen }) => {
    const operation = operations.get(id) as Operation
    let made = 0
    const send = sending(async ({ read }: Call) => {
      const answer = answers[made++ % answers.length]
      if (answer instanceof ApiError) throw answer
      const text = textOf(answer ?? {})
      return read?.([Buffer.from(text)]) ?? (JSON.parse(text) as JsonObject)
    })
    const errors: ApiError[] = []
    const first = () => begin(operation, request, chosen)
    const given = new Promise<Answer>((done) => {
      const failed = (thrown: unknown) => {
        const error = asApiError(thrown)
        errors.push(error)
        done(refusal(operation, chosen, error))
      }
      answer(first, createCalls(send, chosen.limits), chosen.limits, { done, failed })
    })
    const status = await statusOf(await given)
    statuses[status] = (statuses[status] ?? 0) + 1
    const own = errors.find(({ message }) => message === 'internal error')
    if (own) throw new Error(`${id}: an error of our own making: ${(own.cause as Error).stack}`)
  })
  await fc.assert(property, { numRuns, seed, endOnFailure: true })
  return { statuses }
}

/** Reads an answer to its end; throws if v1 could not give it. */
async function statusOf(answer: Answer): Promise<string> {
  if ('stream' in answer) return readStream(answer.stream)
  const text = 'written' in answer ? Buffer.concat(bytesOf(answer.written)).toString() : jsonOf(answer.body)
  if (text === undefined) return 'too deep'
  if (answer.status >= 400 && errorIn(text, 'application/json') === undefined) throw new Error(`not in v1's shape: ${text}`)
  return String(answer.status)
}

/** Undefined if a member is nested too deeply to be written, which `sendAnswer` reports. */
function jsonOf(body: unknown): string | undefined {
  try {
    return JSON.stringify(body)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

async function readStream(stream: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  try {
    for await (const piece of stream) text += Buffer.from(piece).toString()
  } catch (error) {
    if (error instanceof ApiError || error instanceof RangeError) return 'broken off'
    throw error
  }
  JSON.parse(text)
  return '200 streamed'
}
