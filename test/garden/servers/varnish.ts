import type { Kind } from '../server.ts'

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
    ...['-F', '-j', 'none', '-n', `${directory}/work`, '-a', `127.0.0.1:${port}`, '-f', `${directory}/garden.vcl`],
    ...['-s', 'malloc,8M', '-p', 'thread_pools=1', '-p', 'thread_pool_min=10', '-T', 'none'],
  ],
}
