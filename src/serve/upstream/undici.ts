/// <reference path="./undici-parts.d.ts" />
import api from 'undici/lib/api/index.js'
import buildConnector from 'undici/lib/core/connect.js'
import util from 'undici/lib/core/util.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Client from 'undici/lib/dispatcher/client.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import Pool from 'undici/lib/dispatcher/pool.js'

/**
 * The parts of undici that a proxy needs. The index of the package also evaluates fetch, WebSocket, caches and mocks, and makes Node load
 * its own copy of them: a tenth of the processor time of a start. It gives the methods to the prototype in the same way. They are a file of
 * their own, because the package has no types for them, and the types of this program must not lead there.
 */
Object.assign(Dispatcher.prototype, api)

const { parseHeaders } = util

export { Agent, buildConnector, Client, Pool, parseHeaders }
