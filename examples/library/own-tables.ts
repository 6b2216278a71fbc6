import { type Crosswalk, createCrosswalk } from 'crosswalk'
import { get, type Mapping, readOnly, replace, resource, type Tables, text } from 'crosswalk/tables'

const item = resource('item', {
  v2: '/shop/v2/items',
  plural: 'items',
  fields: { id: readOnly('uid'), title: text('name') },
})

const shop: Mapping = {
  domain: 'shop',
  operations: [
    get('shop.items.get', 'GET /shop/v1/items/{id=**}', item, 'error'),
    replace('shop.items.update', 'PUT /shop/v1/items/{id=**}', item),
  ],
}

/** Version 1 of a shop, served from version 2. */
export const tables: Tables = { name: 'shop', mappings: [shop], differences: [], shapes: {} }

/** Serves it from the service at `v2`, at a free port. */
export async function startShop(v2: string): Promise<Crosswalk> {
  const v1 = await createCrosswalk({ upstream: { v2 } }, { tables })
  await v1.listen()
  return v1
}
