import type { Kind } from '../server.ts'

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
