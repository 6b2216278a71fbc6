import { stsRoutes } from './auth/routes.ts'
import type { Route } from './http/route.ts'
import { v1Routes } from './v1/routes.ts'
import { advisoryFeedRoutes } from './v2/advisory/routes.ts'
import { eventRoutes } from './v2/events/subscriptions.ts'
import { iamRoutes } from './v2/iam/routes.ts'
import { libraryRoutes } from './v2/libraries/routes.ts'
import { pingRoutes } from './v2/ping.ts'
import { registryRoutes } from './v2/registry/routes.ts'
import { vulnerabilityRoutes } from './v2/vulnerabilities/advisories.ts'

/** Every endpoint of the service: v2, genuine v1 and the token issuer. */
export const serviceRoutes: readonly Route[] = [
  ...iamRoutes,
  ...registryRoutes,
  ...vulnerabilityRoutes,
  ...libraryRoutes,
  ...advisoryFeedRoutes,
  ...eventRoutes,
  ...pingRoutes,
  ...v1Routes,
  ...stsRoutes,
]
