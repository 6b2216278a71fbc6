/**
 * What each kind of read finds, by its name: the stamp, and what `readFound` takes apart. What a live replica reads is kept, unless it was
 * meant for a short time: 100 batches are a fraction of the time that is left.
 */
export const READS_SCRIPT = `
local FOUND = {}
local function hash(kind)
  return function(name)
    local held, found = call('HGETALL', root .. kind .. ':' .. name), { '0' }
    for i = 1, #held, 2 do
      if held[i] == STAMP then found[1] = held[i + 1]
      else found[#found + 1] = held[i]; found[#found + 1] = held[i + 1] end
    end
    return found
  end
end
FOUND.sums, FOUND.texts = hash('sums'), hash('texts')
local function stampOf(kind, name)
  return call('HGET', root .. kind .. ':' .. name, STAMP) or '0'
end
function FOUND.log(name, known)
  local key = root .. 'log:' .. name
  local last = call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  local stamp = last and string.match(last[1], '%d+') or '0'
  local from = known ~= '' and tonumber(known) <= tonumber(stamp) and '(' .. known .. '-0' or '-'
  local found = { stamp }
  for _, item in ipairs(stamp ~= known and call('XRANGE', key, from, '+') or {}) do
    found[#found + 1] = string.match(item[1], '%d+')
    found[#found + 1] = item[2][2]
    found[#found + 1] = item[2][4]
  end
  return found
end
function FOUND.document(name)
  local held = call('HMGET', root .. 'document:' .. name, 'stamp', 'version', 'text')
  return { held[1] or '0', held[2] or '0', held[3] or '' }
end
function FOUND.lease(name)
  local held = call('HMGET', root .. 'lease:' .. name, 'stamp', 'holder')
  return { held[1] or '0', held[2] }
end
function FOUND.replicas()
  local held, found = call('HGETALL', root .. 'beats'), { written(now) }
  for i = 1, #held, 2 do
    local untilTime, beat, given = string.match(held[i + 1], '^(%d+) (%d+) (.*)$')
    if tonumber(untilTime) > now then
      found[#found + 1] = held[i]
      found[#found + 1] = written((now - beat) / 1000)
      found[#found + 1] = given
    elseif not isRead then call('HDEL', root .. 'beats', held[i]) end
  end
  return found
end
local function find(read)
  local isKnown = (read.kind == 'sums' or read.kind == 'texts') and stampOf(read.kind, read.name) == read.known
  local found = not isKnown and FOUND[read.kind](read.name, read.known)
  return found and found[1] ~= read.known and found
end
local function renew(reads)
  for _, read in ipairs(reads) do
    local key = root .. read.kind .. ':' .. read.name
    if call('PTTL', key) > KEPT / 2 then keep(key, KEPT) end
  end
end
`
