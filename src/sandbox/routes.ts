import { stsRoutes } from './auth/routes.ts'
import type { Route } from './http/route.ts'
import { v1Routes } from './v1/routes.ts'
import { iamRoutes } from './v2/iam/routes.ts'
import { pingRoutes } from './v2/ping.ts'
import { registryRoutes } from './v2/registry/routes.ts'

/** Every endpoint of the service: v2, native v1 beside it, and the token issuer. */
export const serviceRoutes: readonly Route[] = [...iamRoutes, ...registryRoutes, ...pingRoutes, ...v1Routes, ...stsRoutes]
