import { parseArgs } from 'node:util'
import { listen } from './listen.ts'
import { v1Routes } from './v1.ts'
import { v3Routes } from './v3.ts'
import { createWorld } from './world.ts'

/** `node main.js --version v3 --port 9301` serves one version of the API on the loopback address. */
const { values } = parseArgs({ options: { version: { type: 'string', default: 'v3' }, port: { type: 'string', default: '9301' } } })
const routes = values.version === 'v1' ? v1Routes : v3Routes
const { url } = await listen(routes(createWorld()), Number(values.port))
process.stdout.write(`${values.version} on ${url}\n`)
