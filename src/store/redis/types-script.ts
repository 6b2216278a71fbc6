/**
 * Refuses all of a batch if a key that it needs has another type: somebody else writes there. It comes before the first write, because what
 * Redis has done of a script stays done when a later command fails. An error begins with this word, and ends with the key.
 */
export const FOREIGN = 'FOREIGN'

/** Defines `foreign(key, wanted)`, which returns an error, or nil if the key has the wanted type or does not exist. */
export const TYPES_SCRIPT = `
local function foreign(key, wanted)
  local found = redis.call('TYPE', key).ok
  if found == wanted or found == 'none' then return nil end
  return redis.error_reply('${FOREIGN} ' .. found .. ' ' .. wanted .. ' ' .. string.gsub(key, '%c', '?'))
end
`
