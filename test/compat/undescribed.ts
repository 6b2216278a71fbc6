import { mappings } from '../../mappings/index.ts'
import { createRouter } from '../../src/serve/route.ts'
import { createUndescribed, type Undescribed } from '../openapi/described.ts'
import { documentOf } from '../openapi/documents.ts'
import { operationOf } from './hits.ts'
import type { Outcome } from './judge.ts'
import type { Dialect } from './spell.ts'

const router = createRouter(mappings.flatMap(({ operations }) => operations))

/** Made when a case needs it. */
const contracts = new Map<Dialect, Undescribed>()

/** What cases send because v1 ignores it. The group of a binding and of terms is in the path. */
const IGNORED = /parameter (colour|order_?by|skip|latest_?event_?type),|"additionalProperty":"(colour|group|resource_?limits)"/i

/** Returns what the OpenAPI document says otherwise of the exchanges of a case, at both sides. */
export function complaintsAboutDocument({ genuine, proxied }: Outcome, dialect: Dialect): readonly string[] {
  const undescribed = contracts.get(dialect) ?? createUndescribed(documentOf(dialect))
  contracts.set(dialect, undescribed)
  const said = Object.entries({ genuine, proxied }).flatMap(([side, { exchanges }]) =>
    exchanges.flatMap((exchange) => {
      const operation = operationOf(router, exchange.request)
      return operation ? undescribed(operation.id, exchange).map((sentence) => `${side}: ${sentence}`) : []
    }),
  )
  return [...new Set(said)].filter((sentence) => !IGNORED.test(sentence))
}
