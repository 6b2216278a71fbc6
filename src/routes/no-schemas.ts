import type { FastifyServerOptions } from 'fastify'

function refuse(): never {
  throw new Error('no route may have a schema: its compiler is not loaded')
}

/** Keeps Fastify from loading its compilers of JSON Schemas at the start (`schemaController`). No route of this proxy has a schema. */
export const NO_SCHEMAS: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: refuse, buildSerializer: refuse },
}
