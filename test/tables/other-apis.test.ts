import { describe, expect, it } from 'vitest'
import { type ErrorForm, fromV2, toV1 } from '../../src/errors.ts'
import { pageTokenOf, withPageToken } from '../../src/migrate/modes/select.ts'
import { createClassify } from '../../src/serve/classify.ts'
import { createRouter } from '../../src/serve/route.ts'
import { checkMappings } from '../../src/tables/check.ts'
import {
  action,
  converted,
  long,
  type Mapping,
  mayBeEmpty,
  message,
  object,
  readOnly,
  replace,
  resource,
  text,
  texts,
} from '../../src/tables/language.ts'

const ENV = { dialect: 'published', maskCase: 'snake', replaceMask: '*', notFound: 'error', readmes: false } as const

const row = message('project', {
  number: readOnly(converted(long('name'), { show: (name) => String(name).replace('projects/', '') })),
  parent: converted(object('parent', { type: text('type'), id: text('id') }), {
    show: (name) => ({ type: String(name).split('/')[0], id: String(name).split('/')[1] }),
    read: (id) => ((id as { type?: string }).type === 'folders' ? `folders/${(id as { id: string }).id}` : undefined),
    must: 'must be a folder',
  }),
})

describe('a converted member', () => {
  it('is shown as v1 writes it', () => {
    expect(row.show.published({ name: 'projects/12', parent: 'folders/3' })).toEqual({ number: '12', parent: { type: 'folders', id: '3' } })
  })

  it('is unset where v2 has none', () => expect(row.show.published({})).toEqual({ number: '0', parent: null }))

  it('is sent as v2 writes it', () => {
    expect(row.read({ number: '5', parent: { type: 'folders', id: '3' } })).toEqual({ parent: 'folders/3' })
  })

  it('is refused if v2 knows no such value', () => {
    expect(() => row.read({ parent: { type: 'planets', id: '3' } })).toThrow('Invalid argument: parent: must be a folder')
  })

  it('must be read-only or have a way back', () => {
    const broken = message('broken', { at: converted(text('at'), { show: String }) })
    const operations = [action('x.y.get', 'GET /x/v1/y', { v2: 'GET /x/v2/y', answer: broken })]
    expect(() => checkMappings([{ domain: 'x', operations }])).toThrow('broken.at is written to v2 but converted only for answers')
  })
})

it('takes {} for an answer of which every member may be unset', () => {
  const page = message('page', { rows: texts('rows') })
  expect([page.isAnswer({}), mayBeEmpty(page).isAnswer({}), mayBeEmpty(page).isAnswer({ message: 'of a balancer' })]).toEqual([
    false,
    true,
    false,
  ])
})

describe('an API with paths of its own', () => {
  const paged = { params: { page_mark: 'mark' }, paging: { parameter: 'page_mark', member: 'next_mark' } } as const
  const list = action('shop.carts.list', 'GET /api/v3/carts', { v2: 'GET /api/v4/carts', ...paged })
  const get = action('shop.carts.get', 'GET /api/v3/{id}', { v2: 'GET /api/v4/carts/{id}' })
  const shop: Mapping = { domain: 'shop', prefix: 'api/v3', operations: [list, get] }

  it('has its v1 paths below the prefix of its mapping', () => {
    const classify = createClassify([shop])
    expect(['/api/v3/carts', '/api/v3', '/api/v30/carts', '/api/v4/carts', '/shop/v1/carts'].map((url) => classify(url).kind)).toEqual([
      'v1',
      'v1',
      'native',
      'native',
      'native',
    ])
  })

  it('is routed by as many literal segments as all of its paths begin with', () => {
    const { match } = createRouter(shop.operations)
    expect([match('GET', '/api/v3/carts'), match('GET', '/api/v3/5')]).toEqual([
      { operation: list, params: {} },
      { operation: get, params: { id: '5' } },
    ])
  })

  it.each([
    ['user:alice', 'user%3Aalice'],
    ['sha256:ab12', 'sha256%3Aab12'],
    ['size', 'size'],
  ])('keeps an id of one segment, as %s, whatever methods other APIs have', (id, written) => {
    const cart = resource('cart', { v2: '/api/v4/carts', plural: 'carts', fields: { name: text('name') } })
    for (const { begin } of [get, replace('shop.carts.update', 'PUT /api/v3/carts/{id}', cart)]) {
      const turn = begin?.({ params: { id }, query: new Map(), body: {} }, ENV)
      expect(turn).toMatchObject({ calls: [{ path: `/api/v4/carts/${written}` }] })
    }
  })

  it('refuses as a uid of several segments what may be a method', () => {
    const uid = action('shop.carts.at', 'GET /api/v3/at/{id=**}', { v2: 'GET /api/v4/carts/{id}' })
    expect(() => uid.begin?.({ params: { id: 'user:alice' }, query: new Map(), body: undefined }, ENV)).toThrow('is not a valid uid')
  })

  it('pages with its own parameter', () => {
    expect(pageTokenOf(list, '/api/v3/carts?a=1&pageMark=x%2Fy')).toBe('x/y')
    expect(withPageToken(list, '/api/v3/carts?page_mark=x&a=1', 'y z')).toBe('/api/v3/carts?page_mark=y%20z&a=1')
    expect(pageTokenOf(get, '/api/v3/5?page_mark=x')).toBeUndefined()
  })
})

describe('an API with errors of its own', () => {
  const form: ErrorForm = {
    read({ text }) {
      const { fault } = JSON.parse(text) as { fault?: string }
      return fault === undefined ? undefined : { code: 'NOT_FOUND', message: fault, details: [], foreign: false }
    },
    write: ({ message }) => ({ status: 410, body: { fault: message } }),
  }

  it('has them read and written in its form', () => {
    const error = fromV2({ status: 404, headers: {}, text: '{"fault":"no such cart"}' }, form)
    expect([error.code, error.message, error.foreign]).toEqual(['NOT_FOUND', 'no such cart', false])
    const manners = { missing: 'error', empty: {}, fieldName: String } as const
    expect(toV1(error, manners, 'empty', form)).toEqual({ status: 410, headers: {}, body: { fault: 'no such cart' } })
  })

  it('has every other body judged by its status', () => {
    expect(fromV2({ status: 503, headers: {}, text: '{}' }, form).code).toBe('UNAVAILABLE')
  })
})
