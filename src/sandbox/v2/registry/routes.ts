import type { Route } from '../../http/route.ts'
import { imageRoutes } from './images.ts'
import { readmeRoutes } from './readmes.ts'
import { repoRoutes } from './repos.ts'
import { tagRoutes } from './tags.ts'

/** Everything below `/registry/v2`. */
export const registryRoutes: readonly Route[] = [...repoRoutes, ...readmeRoutes, ...tagRoutes, ...imageRoutes]
