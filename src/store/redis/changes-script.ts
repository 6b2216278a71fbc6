/** What each kind of change does, by its name. Its arguments come after the name and the milliseconds for which it is kept. */
export const CHANGES_SCRIPT = `
local CHANGES = {}
for _, kind in ipairs({ 'add', 'most', 'least' }) do
  CHANGES[kind] = function(name, ms)
    local sums = pending(name, ms)
    fields(function(field, value) pend(sums, kind, field, value) end)
  end
end
local sets, setOrder = {}, {}
function CHANGES.join(name, ms)
  local field, member, most = text(), text(), number()
  local key = root .. 'members:' .. name .. STAMP .. field
  local set = sets[key]
  if not set then
    set = { key = key, sums = pending(name, ms), field = field, members = {}, mosts = {}, least = most }
    sets[key] = set
    setOrder[#setOrder + 1] = set
  end
  set.keep, set.least = ms, math.min(set.least, most)
  set.members[#set.members + 1], set.mosts[#set.mosts + 1] = member, most
end
local function joinAll(set)
  local size, members = call('SCARD', set.key), set.members
  local before = size
  if size + #members <= set.least then
    for from = 1, #members, 500 do size = size + call('SADD', set.key, unpack(members, from, math.min(from + 499, #members))) end
  else
    for i, member in ipairs(members) do
      if size < set.mosts[i] then size = size + call('SADD', set.key, member) end
    end
  end
  if size > before then pend(set.sums, 'add', set.field, size - before) end
  keep(set.key, set.keep)
end
function CHANGES.draw(name, ms)
  local amount, most, key = number(), number(), root .. 'sums:' .. name
  local held, drawn, mine, stamp = call('HGETALL', key), 0, 0, 0
  for i = 1, #held, 2 do
    if held[i] == STAMP then stamp = held[i + 1] else drawn = drawn + held[i + 1] end
    if held[i] == replica then mine = held[i + 1] end
  end
  local granted = math.min(amount, most - drawn)
  if granted > 0 then call('HSET', key, STAMP, after(stamp), replica, written(mine + granted)) end
  keep(key, ms)
end
local function write(name, ms, isFirst)
  local field, given, key = text(), text(), root .. 'texts:' .. name
  local held = call('HMGET', key, field, STAMP)
  if held[1] ~= given and not (isFirst and held[1]) then call('HSET', key, STAMP, after(held[2]), field, given) end
  keep(key, ms)
end
function CHANGES.write(name, ms) write(name, ms, false) end
function CHANGES.mark(name, ms) write(name, ms, true) end
function CHANGES.log(name, ms)
  local given, items, key = text(), text(), root .. 'log:' .. name
  local last = call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  local nth = last and string.match(last[1], '%d+') + 1 or now
  call('XADD', key, 'MAXLEN', '=', items, written(nth) .. '-0', 'replica', replica, 'text', given)
  keep(key, ms)
end
function CHANGES.lease(name, ms)
  local key = root .. 'lease:' .. name
  local holder = call('HGET', key, 'holder')
  if holder and holder ~= replica then return end
  if ms == 0 then call('DEL', key) return end
  if not holder then call('HSET', key, 'holder', replica, 'stamp', written(now)) end
  keep(key, ms)
end
function CHANGES.raise(name)
  local version, given, key = number(), text(), root .. 'document:' .. name
  local held = call('HMGET', key, 'version', 'stamp')
  if version > (tonumber(held[1]) or 0) then call('HSET', key, 'version', written(version), 'text', given, 'stamp', after(held[2])) end
end
function CHANGES.beat(_, ms)
  call('HSET', root .. 'beats', replica, written(now + ms * 1000) .. ' ' .. written(now) .. ' ' .. text())
end
`
