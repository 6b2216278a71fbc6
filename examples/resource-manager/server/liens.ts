import { Failure } from './failure.ts'
import type { Asked, Routes } from './listen.ts'
import { pageIn, pageOf } from './pages.ts'
import { type Lien, projectOf, type World } from './world.ts'

/** Liens are the same in both versions. */
export function lienRoutes(world: World, version: string): Routes {
  const found = ({ id }: Asked): Lien => {
    const lien = world.liens.get(id)
    if (!lien) throw new Failure('NOT_FOUND', 'Requested entity was not found.')
    return lien
  }
  return {
    [`GET /${version}/liens`]: ({ query }) => {
      const parent = parentOf(world, query.get('parent'))
      const rows = [...world.liens.values()].filter((lien) => lien.parent === parent)
      return pageOf(version, 'liens', rows, pageIn(query))
    },
    [`POST /${version}/liens`]: ({ body }) => {
      const { restrictions = [], reason = '', origin = '' } = body
      if (restrictions.length === 0) throw new Failure('INVALID_ARGUMENT', 'must not be empty', 'restrictions')
      const id = `p${world.next()}`
      const lien = { name: `liens/${id}`, parent: parentOf(world, body.parent), restrictions, reason, origin, createTime: world.now() }
      world.liens.set(id, lien)
      return lien
    },
    [`GET /${version}/liens/{}`]: found,
    [`DELETE /${version}/liens/{}`]: (asked) => {
      world.liens.delete(found(asked).name.slice('liens/'.length))
      return {}
    },
  }
}

/** Returns the parent of a lien with the number of its project. */
function parentOf(world: World, parent: unknown): string {
  const [, id] = /^projects\/(.+)$/.exec(String(parent)) ?? []
  if (id === undefined) throw new Failure('INVALID_ARGUMENT', 'must name a project', 'parent')
  return `projects/${projectOf(world, id).number}`
}
