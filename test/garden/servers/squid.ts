import type { Kind } from '../server.ts'

export const squid: Kind = {
  name: 'squid',
  program: 'squid',
  files: ({ port, upstream }) => ({
    'squid.conf': `
http_port 127.0.0.1:${port} accel defaultsite=garden no-vhost
cache_peer 127.0.0.1 parent ${upstream} 0 no-query originserver no-digest login=PASSTHRU name=behind
acl refused urlpath_regex /refused$
http_access deny refused
http_access allow all
http_upgrade_request_protocols OTHER allow all
never_direct allow all
cache deny all
cache_mem 0 MB
${process.getuid?.() === 0 ? 'cache_effective_user nobody\ncache_effective_group nogroup' : ''}
pid_filename none
access_log none
cache_log /dev/null
cache_store_log none
netdb_filename none
pinger_enable off
shutdown_lifetime 0 seconds
visible_hostname garden
`,
  }),
  // Its shared memory is named after the service, of which there may be several.
  argv: ({ directory, port }) => ['-N', '-d1', '-n', `garden${port}`, '-f', `${directory}/squid.conf`],
}
