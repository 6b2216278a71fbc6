import fc, { type Arbitrary } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import type { Route } from '../../src/sandbox/http/route.ts'
import * as genuine from '../../src/sandbox/http/route.ts'
import { serviceRoutes } from '../../src/sandbox/start.ts'
import { createClassify } from '../../src/serve/classify.ts'
import { parseQuery } from '../../src/serve/request.ts'
import { createRouter } from '../../src/serve/route.ts'
import type { Operation, V1Request } from '../../src/tables/operation.ts'
import { parentUid } from '../../src/tables/uid.ts'
import { createShapes, trace } from '../../src/tools/explore.ts'
import { holds, operations, same } from './forms.ts'
import { agreements, pairs } from './genuine.ts'

describe('agreement', () => {
  describe.each(pairs.map((pair) => [pair.table.name, pair] as const))('%s', (_, pair) => {
    it.each(agreements(pair).map((agreement) => [agreement.what, agreement] as const))('%s', (_what, { drawn, check }) => {
      holds(drawn, check)
    })
  })
})

describe('targets', () => {
  const classify = createClassify(mappings)
  const router = createRouter(operations)

  /** v1's gateway over all operations of v1, and the service over all of v2's. Both were written from the facts, not from the tables. */
  const v1 = genuine.createRouter(operations.map(({ method, template }) => routeOf(method, template)))
  const v2 = genuine.createRouter(serviceRoutes.filter(({ template }) => /^\/\w+\/v2\//.test(template)))

  function routeOf(method: Route['method'], template: string): Route {
    return { method, template, auth: 'none', handle: () => ({}) }
  }

  /** Returns the gateway's route for a target. It reads the target as Go does: bytes that are not UTF-8 stay bytes. */
  function gateway(router: genuine.Router, method: string, url: string): genuine.Match | undefined {
    const path = url.replace(/\?.*$/s, '')
    if (/%(?![0-9a-f]{2})/i.test(path)) return undefined
    const bytes = path.replace(/%(..)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    return router.find(method, bytes)
  }

  const UID = '588391a69873a06cb99a4ed5a59102644f751ea4/00df03e05eba2b78'
  const TEMPLATES = operations.flatMap(({ template, calls }) => [template, ...calls])
  const ENDS = [...new Set(TEMPLATES.flatMap((template) => /(?<=\})[/:]\w+$|:\w+$/.exec(template) ?? []))]
  const WORDS = [...new Set(TEMPLATES.flatMap((template) => template.split(/[/:]/)))].filter((word) => /^\w+$/.test(word))
  const PIECES = [
    ...['/', '//', '%2f', '%2F', '%252f', '\\', '%5c', '.', '..', '/../', '/./', '%2e', '%2E%2e', '..;', ';', ';x=1', '%3b'],
    ...[':', '%3A', ':sync', '%3apurge', '%00', '%0d%0a', '%20', '%25', '%', '%zz', '%ff', '%C3%BC', '\u00fc', '\u00c3\u00bc'],
    ...['#', '?', '?id=', '&', '=', '"', '<', '`', '{', '|', '^', '~', '+', '@', '*', 'V1', 'IAM', 'v2', UID],
  ]
  const piece = fc.oneof(fc.constantFrom(...PIECES), fc.constantFrom(...ENDS), fc.constantFrom(...WORDS))
  const value = fc.oneof(
    fc.constant(UID),
    fc.constantFrom(...ENDS).map((end) => UID + end),
    fc.constantFrom('/readme', ':sync').map((end) => UID + end),
    fc.array(piece, { maxLength: 3 }).map((pieces) => pieces.join('')),
  )

  /** Draws a route of a table with values, in changed case and with unexpected parts. */
  function requests(routes: readonly Operation[]): Arbitrary<readonly [method: Route['method'], url: string]> {
    const extra = fc.array(fc.tuple(fc.nat(), piece), { maxLength: 2 })
    const drawn = fc.tuple(
      fc.constantFrom(...routes),
      fc.array(value, { minLength: 2, maxLength: 2 }),
      extra,
      fc.nat(20),
      fc.option(method),
    )
    return drawn.map(([operation, values, extra, letters, other]) => {
      let url = operation.template.replace(/\{[^}]+\}/g, () => values.pop() ?? '')
      for (const [at, text] of extra) url = url.slice(0, at % (url.length + 1)) + text + url.slice(at % (url.length + 1))
      if (letters === 0) url = url.toUpperCase()
      if (letters === 1) url = url.replace(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
      return [other ?? operation.method, url.startsWith('/') ? url : `/${url}`]
    })
  }
  const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE')

  it('the router and the mode rules understand a target as v1 does', () => {
    let led = 0
    holds(requests(operations), ([method, url]) => {
      const to = classify(url)
      if (to.kind === 'refused') return
      const match = to.kind === 'v1' ? router.match(method, to.path) : undefined
      const operation = typeof match === 'object' ? match.operation : undefined
      if (operation) led += 1
      same(`${operation?.template}`, `${gateway(v1, method, url)?.route.template}`, `${method} ${url}`)
    })
    expect(led).toBeGreaterThan(0)
  })

  /** Templates without the names of their variables. */
  const shapeOf = (call: string) => call.replace(/\{[^}]*\}/g, '{}')

  function callsOf(operation: Operation, request: V1Request) {
    const env = { dialect: 'specification', maskCase: 'snake', replaceMask: '*', notFound: 'empty', readmes: true } as const
    return trace({ operation, request, env, shapeOf: createShapes(mappings) }).calls
  }

  /** Returns the gateway's value of a variable, if it is UTF-8. */
  const asText = (bytes: string) => Buffer.from(bytes, 'latin1').toString()

  it('a v2 call reaches a method that its table names, with the intended variables', () => {
    let made = 0
    const translated = operations.filter(({ begin }) => begin)
    holds(fc.tuple(requests(translated), value), ([[method, url], text]) => {
      const to = classify(url)
      const match = to.kind === 'v1' ? router.match(method, to.path) : undefined
      if (typeof match !== 'object') return
      const { operation, params } = match
      const query = parseQuery(`id=${encodeURIComponent(text)}`)
      const meant = new Set(['', text, ...Object.values(params)])
      // A tag is updated by creating it anew in its repo.
      if (operation.id === 'registry.tags.update') meant.add(parentUid(params.id ?? '') ?? '')
      for (const call of callsOf(operation, { params, query, body: { role: text, identity: text, group: text } })) {
        made += 1
        const found = gateway(v2, call.method, call.path)
        const what = `${method} ${url} → ${call.method} ${call.path}`
        same(operation.calls.map(shapeOf).includes(shapeOf(`${found?.route.method} ${found?.route.template}`)), true, what)
        const others = Object.values(found?.params ?? {})
          .map(asText)
          .filter((value) => !meant.has(value) && !value.startsWith('CROSSWALK-'))
        same(others, [], what)
      }
    })
    expect(made).toBeGreaterThan(0)
  })
})
