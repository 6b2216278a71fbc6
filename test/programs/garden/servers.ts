import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { until } from '../../stage/clocks.ts'
import { hasProgram, PATH, startProgram, temporaryFolder } from '../../stage/programs.ts'
import { freePort } from '../../stage/upstream.ts'
import type { Finding } from './judge.ts'

/** Where a server listens, what is behind it (the port of a service of this machine), and the directory of its files. */
export interface Place<U = number> {
  readonly directory: string
  readonly port: number
  readonly upstream: U
}

/** An HTTP server as a reverse proxy. Those of the garden keep their connections, and themselves refuse paths that end in `/refused`. */
export interface Kind<U = number> {
  readonly name: string
  readonly program: string
  /** Contents of its files, by their path below the directory. */
  readonly files: (place: Place<U>) => Readonly<Record<string, string>>
  /** Directories that it requires. */
  readonly directories?: readonly string[]
  /** Faults of its own, although the same row shows another fault without Crosswalk. */
  readonly own?: readonly Own[]
  /** Arguments that keep it in the foreground. */
  readonly argv: (place: Place<U>) => readonly string[]
  /** The signal that ends it, with its workers; SIGTERM unless set. */
  readonly end?: NodeJS.Signals
}

/** A fault of a server that shows only behind another one. */
interface Own {
  readonly finding: Finding
  /** Names of rows. */
  readonly rows: RegExp
  readonly because: string
}

export const isInstalled = ({ program }: Pick<Kind, 'program'>): boolean => hasProgram(program)

export type Running = Awaited<ReturnType<typeof startServer>>

/** Starts a server in front of what is behind it, and waits until it answers. */
export async function startServer<U>(kind: Kind<U>, upstream: U) {
  const folder = temporaryFolder(kind.name)
  const directory = folder.path
  // Some servers drop root's rights and must still be able to read their files.
  chmodSync(directory, 0o755)
  const place = { directory, port: await freePort(), upstream }
  const url = `http://127.0.0.1:${place.port}`
  for (const path of kind.directories ?? []) mkdirSync(join(directory, path), { recursive: true })
  for (const [path, text] of Object.entries(kind.files(place))) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  const { end = 'SIGTERM' } = kind
  const program = startProgram(kind.program, kind.argv(place), { env: { ...process.env, PATH }, cwd: directory, end })
  const stop = async () => {
    if (program.isAlive()) await program.stop(end)
    folder.remove()
  }
  try {
    const answers = async () => (await fetch(`${url}/iam/v2/refused`)).status > 0
    await Promise.race([until(answers, `${kind.name} answers`), program.ended.then(() => Promise.reject(new Error('it ended')))])
  } catch (error) {
    await stop()
    throw new Error(`${kind.name} did not start:\n${program.lines.slice(-50).join('\n')}`, { cause: error })
  }
  return { port: place.port, url, place, stop }
}

const MODULES = ['mpm_event', 'authz_core', 'alias', 'proxy', 'proxy_http']

export const apache: Kind = {
  name: 'apache',
  program: 'apache2',
  files: ({ directory, port, upstream }) => ({
    'apache.conf': `
${MODULES.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
ServerName garden
ServerRoot ${directory}
DefaultRuntimeDir ${directory}
PidFile ${directory}/pid
ErrorLog ${directory}/error.log
Listen 127.0.0.1:${port}
${process.getuid?.() === 0 ? 'User nobody\nGroup nogroup' : ''}
StartServers 1
ServerLimit 1
ThreadsPerChild 32
MaxRequestWorkers 32
AsyncRequestWorkerFactor 20
ProxyTimeout 30
AllowEncodedSlashes NoDecode
RedirectMatch 404 /refused$
ProxyPassMatch /refused$ !
ProxyPass / http://127.0.0.1:${upstream}/ upgrade=websocket
ProxyPreserveHost On
`,
  }),
  argv: ({ directory }) => ['-D', 'FOREGROUND', '-f', `${directory}/apache.conf`],
}

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

export const lighttpd: Kind = {
  name: 'lighttpd',
  program: 'lighttpd',
  files: ({ directory, port, upstream }) => ({
    'lighttpd.conf': `
server.modules = ( "mod_access", "mod_proxy" )
server.document-root = "${directory}"
server.bind = "127.0.0.1"
server.port = ${port}
server.errorlog = "${directory}/error.log"
server.max-keep-alive-requests = 1000
$HTTP["url"] =~ "/refused$" { url.access-deny = ( "" ) }
proxy.server = ( "" => ( ( "host" => "127.0.0.1", "port" => ${upstream} ) ) )
proxy.header = ( "upgrade" => "enable" )
`,
  }),
  own: [
    {
      finding: 'no answer',
      rows: /breaks off|^a pipeline/,
      because: 'it leaves the connection open when the server behind it broke an answer off',
    },
  ],
  argv: ({ directory }) => ['-D', '-f', `${directory}/lighttpd.conf`],
}

/** What an nginx does with the requests that it gets. */
interface NginxParts {
  /** Names of its dynamic modules. */
  readonly modules?: readonly string[]
  /** Directives of the part `http`. */
  readonly http: string
  /** Directives of its server. */
  readonly server: string
}

/** An nginx with one worker and these directives. */
export const nginxOf = (name: string, parts: (place: Place) => NginxParts, files: Readonly<Record<string, string>> = {}): Kind => ({
  name,
  program: 'nginx',
  files: (place) => {
    const { directory, port } = place
    const { modules = [], http, server } = parts(place)
    const config = `
${modules.map((module) => `load_module /usr/lib/nginx/modules/${module}.so;`).join('\n')}
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${directory}/pid;
error_log ${directory}/error.log;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi;
  scgi_temp_path ${directory}/scgi;
  ${http}
  server {
    listen 127.0.0.1:${port};
    ${server}
  }
}
`
    return { 'nginx.conf': config, ...files }
  },
  argv: ({ directory }) => ['-c', `${directory}/nginx.conf`, '-e', 'stderr'],
})

export const nginx = nginxOf('nginx', ({ upstream }) => ({
  http: `upstream behind { server 127.0.0.1:${upstream}; keepalive 16; }
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }`,
  server: `location ~ /refused$ { return 404; }
    location / {
      proxy_pass http://behind;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
    }`,
}))

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

export const varnish: Kind = {
  name: 'varnish',
  program: 'varnishd',
  directories: ['work'],
  files: ({ upstream }) => ({
    'garden.vcl': `
vcl 4.1;
backend behind { .host = "127.0.0.1"; .port = "${upstream}"; }
sub vcl_recv {
  if (req.url ~ "/refused$") { return (synth(404)); }
  if (req.http.upgrade) { return (pipe); }
  return (pass);
}
sub vcl_pipe {
  if (req.http.upgrade) { set bereq.http.upgrade = req.http.upgrade; set bereq.http.connection = req.http.connection; }
}
`,
  }),
  own: [{ finding: 'a body arrived changed', rows: /^chunks: /, because: 'it ends a chunked body that its sender broke off' }],
  argv: ({ directory, port }) => [
    ...['-F', '-j', 'none', '-n', `${directory}/work`, '-a', `127.0.0.1:${port}`, '-f', `${directory}/garden.vcl`, '-s', 'malloc,8M', '-p'],
    ...['thread_pools=1', '-p', 'thread_pool_min=10', '-T', 'none'],
  ],
}

export const KINDS: readonly Kind[] = [nginx, haproxy, apache, trafficserver, varnish, squid, lighttpd]
