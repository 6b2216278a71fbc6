// The package types its index only.

declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici'
}

declare module 'undici/lib/dispatcher/dispatcher.js' {
  export { Dispatcher as default } from 'undici'
}

declare module 'undici/lib/core/util.js' {
  import { util } from 'undici'
  export default util
}

declare module 'undici/lib/api/index.js' {
  const api: Readonly<Record<'request' | 'stream' | 'pipeline' | 'upgrade' | 'connect', unknown>>
  export default api
}

declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici'
}

declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}

declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici'
}
