import { actOf, readableRow, uidParam } from '../v2/reads.ts'
import type { Row } from '../world/model.ts'
import { encodeResource } from './encode.ts'
import type { List } from './list.ts'
import type { Operation } from './operation.ts'

/**
 * `GET <path>/{id}`: one resource by its uid. NOT_FOUND when there is none; v1's lists by id answer an empty list instead (facts §11).
 *
 *     getOperation({ resource: roles, path: '/iam/v1/roles', message: role })
 */
export const getOperation = <R extends Row>(
  { resource, path, message, view }: Pick<List<R>, 'resource' | 'path' | 'message' | 'view'>,
  variable = 'id',
): Operation => ({
  method: 'GET',
  template: `${path}/{${variable}=**}`,
  answer: (ask, world) => {
    const row = readableRow(resource, actOf(ask, world), uidParam(ask, variable))
    return encodeResource(view?.(row, world) ?? row, message, world.options.v1Dialect)
  },
})
