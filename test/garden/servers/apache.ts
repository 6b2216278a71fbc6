import type { Kind } from '../server.ts'

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
