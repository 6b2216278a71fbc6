import { TYPES_SCRIPT } from './types-script.ts'

/**
 * Replaces a document if its version is the one given. After the deadline nothing is replaced, because the replica has given up by then:
 * Redis may have been frozen meanwhile. The deadline is a time of Redis in microseconds; '' is none.
 */
export const REPLACE_SCRIPT = `${TYPES_SCRIPT}
local root, name, version, text, news, deadline = KEYS[1], unpack(ARGV)
local key = root .. 'document:' .. name
local problem = foreign(key, 'hash')
if problem then return problem end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local held = redis.call('HMGET', key, 'version', 'text', 'stamp')
if deadline ~= '' and now > tonumber(deadline) then return { 'late', held[1] or '0', held[2] or '' } end
if (held[1] or '0') ~= version then return { 'other', held[1] or '0', held[2] or '' } end
local stamp = string.format('%.0f', math.max(now, (tonumber(held[3]) or 0) + 1))
local nextVersion = string.format('%.0f', version + 1)
redis.call('HSET', key, 'version', nextVersion, 'text', text, 'stamp', stamp)
redis.call('PUBLISH', root .. 'news', news)
return { 'replaced', nextVersion, text }
`
