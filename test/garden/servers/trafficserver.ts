import type { Kind } from '../server.ts'

const settings = (port: number) => [
  `proxy.config.http.server_ports STRING ${port}:ip-in=127.0.0.1`,
  'proxy.config.exec_thread.autoconfig INT 0',
  'proxy.config.exec_thread.limit INT 1',
  'proxy.config.admin.user_id STRING #-1',
  'proxy.config.crash_log_helper STRING NULL',
  'proxy.config.http.cache.http INT 0',
  'proxy.config.url_remap.pristine_host_hdr INT 1',
  'proxy.config.http.connect_attempts_max_retries INT 0',
  'proxy.config.http.server_session_sharing.pool STRING global',
  'proxy.config.log.logging_enabled INT 0',
]

/** One file names all its directories. */
const layout = (directory: string) => `
prefix: ${directory}
exec_prefix: ${directory}
bindir: /usr/bin
sbindir: /usr/sbin
libdir: /usr/lib/trafficserver
libexecdir: /usr/lib/trafficserver/modules
includedir: /usr/include
mandir: /usr/share/man
infodir: /usr/share/info
sysconfdir: ${directory}/etc
datadir: ${directory}/cache
cachedir: ${directory}/cache
localstatedir: ${directory}/run
runtimedir: ${directory}/run
logdir: ${directory}/log
`

export const trafficserver: Kind = {
  name: 'trafficserver',
  program: 'traffic_server',
  directories: ['etc', 'cache', 'run', 'log'],
  files: ({ directory, port, upstream }) => ({
    'runroot.yaml': layout(directory),
    'etc/records.config': `${settings(port)
      .map((line) => `CONFIG ${line}`)
      .join('\n')}\n`,
    'etc/ip_allow.yaml': 'ip_allow:\n  - { apply: in, ip_addrs: 127.0.0.1, action: allow, methods: ALL }\n',
    'etc/storage.config': 'cache 16M\n',
    'etc/remap.config': `
map /iam/v2/refused http://127.0.0.1:${upstream}/ @action=deny
map /registry/v1/refused http://127.0.0.1:${upstream}/ @action=deny
map / http://127.0.0.1:${upstream}/
`,
  }),
  argv: ({ directory }) => [`--run-root=${directory}/runroot.yaml`],
}
