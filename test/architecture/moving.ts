/** Files on their way: the room of what starts with each path. */
export const MOVING: readonly (readonly [start: string, room: string])[] = [
  ['src/cli/', 'app'],
  ['src/compare/', 'app'],
  ['src/config.ts', 'app'],
  ['src/config/', 'app'],
  ['src/library/', 'app'],
  ['src/server.ts', 'app'],
  ['src/server/', 'app'],
  ['src/workers/', 'app'],
]
