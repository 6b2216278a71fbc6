import type { Place } from '../../garden/server.ts'

interface Parts {
  /** Names of the dynamic modules. */
  readonly modules: readonly string[]
  /** Directives of the part `http`. */
  readonly http: string
  /** The directive that answers a v1 request. It asks v2 by a subrequest to `/upstream/…`. */
  readonly content: string
}

/** The configuration of an nginx that translates what is below `/…/v1/` and passes the rest on. */
export function nginxFile({ directory, port, upstream }: Place, { modules, http, content }: Parts): string {
  return `
${modules.map((name) => `load_module /usr/lib/nginx/modules/${name}.so;`).join('\n')}
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${directory}/pid;
error_log ${directory}/error.log;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi;
  scgi_temp_path ${directory}/scgi;
  subrequest_output_buffer_size 1m;
  ${http}
  server {
    listen 127.0.0.1:${port};
    location ~ ^/[a-z]+/v1/ { ${content} }
    location ~ ^/upstream(/.*)$ {
      internal;
      proxy_pass http://127.0.0.1:${upstream}$1$is_args$args;
      proxy_set_header Accept-Encoding '';
    }
    location / { proxy_pass http://127.0.0.1:${upstream}; }
  }
}
`
}
