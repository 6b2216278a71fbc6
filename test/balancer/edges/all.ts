import type { Edge } from './edge.ts'

const haproxy: Edge = {
  name: 'haproxy',
  folder: 'docker/haproxy',
  version: ['-v'],
  check: (directory) => ['-c', '-f', `${directory}/haproxy.cfg`],
  argv: (directory) => ['-db', '-f', `${directory}/haproxy.cfg`],
  edits: ({ directory, listen, port, adminPort, v1 }) => [
    ['/etc/haproxy/', `${directory}/`],
    ['bind :8000\n', `bind 127.0.0.1:${listen}\n`],
    [' crosswalk-1:8080', ` 127.0.0.1:${port}`],
    [' crosswalk-2:8080', ` 127.0.0.2:${port}`],
    [' port 8081', ` port ${adminPort}`],
    [' v1:8090', ` ${v1}`],
  ],
  share: (percent) => `-m int lt ${percent} }`,
  keepsCallers: true,
}

const envoy: Edge = {
  name: 'envoy',
  folder: 'docker/envoy',
  version: ['--version'],
  check: (directory) => ['--mode', 'validate', '-c', `${directory}/envoy.yaml`],
  argv: (directory) => ['-c', `${directory}/envoy.yaml`, '--concurrency', '1', '--use-dynamic-base-id', '-l', 'error'],
  edits: ({ listen, port, adminPort, v1 }) => [
    ['address: 127.0.0.1, port_value: 9901', 'address: 127.0.0.1, port_value: 0'],
    ['address: 0.0.0.0, port_value: 8000', `address: 127.0.0.1, port_value: ${listen}`],
    ['address: crosswalk-1, port_value: 8080', `address: 127.0.0.1, port_value: ${port}`],
    ['address: crosswalk-2, port_value: 8080', `address: 127.0.0.2, port_value: ${port}`],
    ['port_value: 8081', `port_value: ${adminPort}`],
    ['address: v1, port_value: 8090', `address: ${v1.replace(':', ', port_value: ')}`],
  ],
  share: (percent) => `- { name: crosswalk, weight: ${percent} }\n                                - { name: v1, weight: ${100 - percent} }`,
  keepsCallers: true,
}

const traefik: Edge = {
  name: 'traefik',
  folder: 'docker/traefik',
  version: ['version'],
  argv: (directory) => [`--configFile=${directory}/traefik.yaml`],
  edits: ({ directory, listen, port, adminPort, v1 }) => [
    ['/etc/traefik/routing.yaml', `${directory}/routing.yaml`],
    ['":8000"', `"127.0.0.1:${listen}"`],
    ['//crosswalk-1:8080', `//127.0.0.1:${port}`],
    ['//crosswalk-2:8080', `//127.0.0.2:${port}`],
    ['port: 8081', `port: ${adminPort}`],
    ['//v1:8090', `//${v1}`],
  ],
  share: (percent) => `- { name: crosswalk, weight: ${percent} }\n          - { name: v1, weight: ${100 - percent} }`,
  keepsCallers: false,
}

export const EDGES: readonly Edge[] = [haproxy, envoy, traefik]
