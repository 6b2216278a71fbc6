import { Failure } from './failure.ts'

/** `organizations/1` or `folders/2`. */
export type Parent = `${'organizations' | 'folders'}/${string}`

export interface Project {
  readonly number: string
  readonly id: string
  readonly title: string
  readonly state: 'ACTIVE' | 'DELETE_REQUESTED'
  readonly parent: Parent | undefined
  readonly labels: Readonly<Record<string, string>>
  readonly created: string
}

export interface Lien {
  readonly name: string
  readonly parent: string
  readonly restrictions: readonly string[]
  readonly reason: string
  readonly origin: string
  readonly createTime: string
}

/** A long-running operation. It is done once somebody has asked `pending` times for it. */
export interface Running {
  readonly name: string
  readonly project: string
  readonly kind: 'create' | 'update' | 'delete'
  readonly created: string
  readonly pending: number
}

/** Everything that a service holds. Both versions of the API show it, each in its own words. */
export interface World {
  readonly projects: Map<string, Project>
  readonly liens: Map<string, Lien>
  readonly operations: Map<string, Running>
  readonly folders: Readonly<Record<string, { readonly title: string; readonly parent: Parent }>>
  readonly organizations: Readonly<Record<string, { readonly title: string; readonly customer: string }>>
  /** A moment later than the one before. */
  readonly now: () => string
  /** A number that was not given before. */
  readonly next: () => number
  /** How often somebody must ask for an update, a delete or a move before it is done. */
  readonly slow: number
}

/** Creates a world with an organization, a folder in it and three projects. Two worlds are the same at every step. */
export function createWorld({ slow = 0 }: { readonly slow?: number } = {}): World {
  let seconds = Date.UTC(2026, 0, 1) / 1000
  let last = 415_104_041_000
  const now = () => {
    seconds += 1
    return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
  }
  const next = () => {
    last += 1
    return last
  }
  const projects = ['Tokyo rain', 'Oslo snow', 'Lima fog'].map((title, at): Project => {
    const id = `${title.toLowerCase().replace(' ', '-')}-1`
    const parent = at === 0 ? 'folders/2' : at === 1 ? 'organizations/1' : undefined
    return { number: String(next()), id, title, state: 'ACTIVE', parent, labels: at === 0 ? { color: 'red' } : {}, created: now() }
  })
  return {
    projects: new Map(projects.map((project) => [project.id, project])),
    liens: new Map(),
    operations: new Map(),
    folders: { 2: { title: 'Weather', parent: 'organizations/1' } },
    organizations: { 1: { title: 'example.com', customer: 'C01' } },
    now,
    next,
    slow,
  }
}

/** Returns a project by its id or number. Neither version says whether a project exists that the caller may not see. */
export function projectOf({ projects }: World, id: string): Project {
  const found = projects.get(id) ?? [...projects.values()].find(({ number }) => number === id)
  if (!found) throw new Failure('PERMISSION_DENIED', 'The caller does not have permission')
  return found
}

/** Changes a project and returns it as it is now. */
export function change(world: World, id: string, changes: Partial<Project>): Project {
  const changed = { ...projectOf(world, id), ...changes }
  world.projects.set(changed.id, changed)
  return changed
}

/** Marks a project for deletion; a lien on it forbids that. */
export function markDeleted(world: World, id: string): Project {
  const { number, state } = projectOf(world, id)
  if (state !== 'ACTIVE') throw new Failure('FAILED_PRECONDITION', 'the project is not active')
  if ([...world.liens.values()].some(({ parent }) => parent === `projects/${number}`))
    throw new Failure('FAILED_PRECONDITION', 'a lien to prevent deletion was placed on the project')
  return change(world, id, { state: 'DELETE_REQUESTED' })
}

export function undelete(world: World, id: string): Project {
  if (projectOf(world, id).state !== 'DELETE_REQUESTED') throw new Failure('FAILED_PRECONDITION', 'the project is not to be deleted')
  return change(world, id, { state: 'ACTIVE' })
}

/** Adds a project; `field` is what the version calls its title. */
export function add(world: World, wanted: Pick<Project, 'id' | 'title' | 'parent' | 'labels'>, field: string): Project {
  if (!/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/.test(wanted.id))
    throw new Failure('INVALID_ARGUMENT', 'project_id contains invalid characters', 'project_id')
  checkTitle(wanted.title, field)
  if (world.projects.has(wanted.id)) throw new Failure('ALREADY_EXISTS', 'Requested entity already exists')
  const project: Project = { ...wanted, number: String(world.next()), state: 'ACTIVE', created: world.now() }
  world.projects.set(project.id, project)
  return project
}

export function checkTitle(title: string, field: string): void {
  if (!/^[\w '"!-]{4,30}$/.test(title)) throw new Failure('INVALID_ARGUMENT', 'must be 4 to 30 characters', field)
}

/** Begins an operation on a project. Creating one takes until somebody asks. */
export function begin(world: World, kind: Running['kind'], { id }: Project): Running {
  const running: Running = {
    name: `operations/${kind[0]}p.${numberOf(world, kind)}`,
    project: id,
    kind,
    created: world.now(),
    pending: kind === 'create' ? 1 : world.slow,
  }
  world.operations.set(running.name, running)
  return running
}

/** Operations of each kind are counted alone, because the versions do not begin the same ones. */
function numberOf({ operations }: World, kind: Running['kind']): number {
  return [...operations.values()].filter((other) => other.kind === kind).length + 1
}

/** Returns an operation to somebody who asks for it. */
export function progress({ operations }: World, name: string): Running {
  const found = operations.get(name)
  if (!found) throw new Failure('NOT_FOUND', 'Requested entity was not found.')
  const later = { ...found, pending: Math.max(0, found.pending - 1) }
  operations.set(name, later)
  return later
}
