import type { Kind } from '../server.ts'

export const haproxy: Kind = {
  name: 'haproxy',
  program: 'haproxy',
  files: ({ port, upstream }) => ({
    'haproxy.cfg': `
global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  http-reuse always
frontend garden
  bind 127.0.0.1:${port}
  http-request return status 404 if { path_end /refused }
  default_backend behind
backend behind
  server one 127.0.0.1:${upstream}
`,
  }),
  argv: ({ directory }) => ['-db', '-f', `${directory}/haproxy.cfg`],
}
