/** The start configuration of the images of a repo, by repo name. The store does not hold it and v2 has no such data (facts §22). */

export type StartConfig = {
  readonly entrypoint: readonly string[]
  readonly cmd?: readonly string[]
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly env?: readonly string[]
  readonly workingDir?: string
  readonly stopSignal?: string
}

export const START_CONFIGS: Readonly<Record<string, StartConfig>> = {
  apko: { entrypoint: ['/usr/bin/apko'], cmd: ['--help'] },
  busybox: { entrypoint: ['/bin/sh', '-l'] },
  go: { entrypoint: ['/usr/bin/go'], cmd: ['help'], env: ['GOPATH=/go', 'GOTOOLCHAIN=local'], workingDir: '/go' },
  jdk: { entrypoint: ['/usr/bin/jshell'], env: ['JAVA_HOME=/usr/lib/jvm/default-jvm'] },
  nginx: {
    entrypoint: ['/usr/sbin/nginx'],
    cmd: ['-c', '/etc/nginx/nginx.conf', '-e', '/dev/stderr', '-g', 'daemon off;'],
    ports: ['8080/tcp'],
    stopSignal: 'SIGQUIT',
  },
  node: { entrypoint: ['/usr/bin/node'], env: ['NODE_ENV=production'], workingDir: '/app' },
  php: { entrypoint: ['/usr/bin/php'], cmd: ['--help'] },
  postgres: {
    entrypoint: ['/usr/bin/docker-entrypoint.sh'],
    cmd: ['postgres'],
    ports: ['5432/tcp'],
    volumes: ['/var/lib/postgresql/data'],
  },
  python: { entrypoint: ['/usr/bin/python3'], env: ['PYTHONDONTWRITEBYTECODE=1'] },
  redis: { entrypoint: ['/usr/bin/redis-server'], ports: ['6379/tcp'], volumes: ['/data'], workingDir: '/data' },
  ruby: { entrypoint: ['/usr/bin/ruby'], workingDir: '/work' },
  static: { entrypoint: [] },
}
