import type { Tag, TagPoint } from '../../world/registry-model.ts'

/** What a tag points to now. */
const pointOf = ({ digest, updateTime }: Tag): TagPoint => ({ digest, updateTime })

/** Everything a tag ever pointed to, oldest first, what it points to now at the end. */
export const pointsOf = (tag: Tag): readonly TagPoint[] => [...(tag.history ?? []), pointOf(tag)]

/** `tag` with the memory of what it was before; a write that leaves the digest as it was moves nothing. */
export const remembering = (tag: Tag, previous: Tag | undefined): Tag => {
  if (!previous) return tag
  return { ...tag, history: previous.digest === tag.digest ? previous.history : pointsOf(previous) }
}
