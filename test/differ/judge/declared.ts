import type { Place } from './places.ts'

/** A spoiled answer that is right by a declared difference, so that nobody who has both answers could tell. */
interface Tolerated {
  readonly operation: string
  /** Whether these places, all of one answer, can be so. */
  readonly fits: (places: readonly Place[]) => boolean
  readonly because: string
}

const STATUS = /\/(?:tag_status|tagStatus)$/
const SHOWN_STATUS = /^"TAG_(?:IN)?ACTIVE"$/
const PART = /^\/items\/\d+\/(?:group\/(resource_?limits|verified|kind|status)|role\/(capabilities)|(email_?unverified))$/i

/** Written from the declared differences by hand: the tables must not decide what is scored. */
const TOLERATED: readonly Tolerated[] = [
  {
    operation: 'registry.eol_tags.list',
    fits: (places) => places.every(({ at, value }) => STATUS.test(at) && SHOWN_STATUS.test(value ?? '')),
    because: 'a tag of each status in v1 may be deprecated in v2, or not',
  },
  {
    operation: 'iam.role_bindings.list',
    fits: (places) => places.every(({ at, value }) => PART.test(at) && value === undefined) && areWhole(places),
    because: 'v2 leaves out all of a part that the caller may not read',
  },
]

/** Whether the members of a group are missing together. */
function areWhole(places: readonly Place[]): boolean {
  const ofGroup = ['resource_?limits', 'verified', 'kind', 'status'].map((name) => {
    return places.filter(({ at }) => new RegExp(`/group/${name}$`, 'i').test(at)).length
  })
  return new Set(ofGroup).size === 1
}

/** Says why an answer that is spoiled at these places is right all the same; undefined if it is not. */
export function whyDeclared(operation: string, places: readonly Place[]): string | undefined {
  return TOLERATED.find((one) => one.operation === operation && one.fits(places))?.because
}
