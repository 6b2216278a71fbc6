import type { Kind } from '../server.ts'

export const nginx: Kind = {
  name: 'nginx',
  program: 'nginx',
  files: ({ directory, port, upstream }) => ({
    'nginx.conf': `
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
  upstream behind { server 127.0.0.1:${upstream}; keepalive 16; }
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  server {
    listen 127.0.0.1:${port};
    location ~ /refused$ { return 404; }
    location / {
      proxy_pass http://behind;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
    }
  }
}
`,
  }),
  argv: ({ directory }) => ['-c', `${directory}/nginx.conf`, '-e', 'stderr'],
}
