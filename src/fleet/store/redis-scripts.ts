import type { Batch } from './store.ts'

/** Changes that take Redis about 20 ms. It serves nobody else meanwhile. */
const MOST = 5000

/**
 * Divides what waited through an outage, so that each step is answered in time. The steps have fractions as numbers, the last one the number
 * of the batch: a batch that is sent again goes on with the step that was not applied. The last step has the heartbeat, which tells others
 * what of this replica is in the store, and the reads.
 */
export function stepsOf(batch: Batch, most: number = MOST): readonly Batch[] {
  const count = Math.ceil(batch.changes.length / most)
  if (count <= 1) return [batch]
  const changes = [...batch.changes.filter(({ kind }) => kind !== 'beat'), ...batch.changes.filter(({ kind }) => kind === 'beat')]
  return Array.from({ length: count }, (_, at) => {
    const isLast = at + 1 === count
    return {
      replica: batch.replica,
      nth: isLast ? batch.nth : batch.nth - 1 + (at + 1) / count,
      changes: changes.slice(at * most, (at + 1) * most),
      reads: isLast ? batch.reads : [],
      isUrgent: isLast && batch.isUrgent,
    }
  })
}

/** What each kind of change does, by its name. Its arguments come after the name and the milliseconds for which it is kept. */
const CHANGES_SCRIPT = `
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
    local sum = counted(held[i + 1]) or 0
    if held[i] == STAMP then stamp = held[i + 1] else drawn = drawn + sum end
    if held[i] == replica then mine = sum end
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
  local nth = after(last and string.match(last[1], '%d+'))
  local function add(nth, run) return run('XADD', key, 'MAXLEN', '=', items, nth .. '-0', 'replica', replica, 'text', given) end
  -- Nothing can follow the highest number, which somebody else may have written.
  if type(add(nth, redis.pcall)) == 'table' then
    call('DEL', key)
    add(written(now), call)
  end
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
  if version > (whole(held[1]) or 0) then call('HSET', key, 'version', written(version), 'text', given, 'stamp', after(held[2])) end
end
function CHANGES.beat(_, ms)
  call('HSET', root .. 'beats', replica, written(now + ms * 1000) .. ' ' .. written(now) .. ' ' .. text())
end
`

/**
 * Claims that add the same to the same name share a head, so that each is no more than the number of its head, its key and its time. The
 * keys are read 500 at a time.
 */
const CLAIMS_SCRIPT = `
local function claim()
  local heads = {}
  local function list()
    local sums = {}
    fields(function(field, value) sums[#sums + 1] = { field, value } end)
    return sums
  end
  for i = 1, number() do
    heads[i] = { name = text(), ms = number(), first = list(), again = list(), firsts = 0, agains = 0 }
    heads[i].px = string.format('%.0f', math.max(1, 2 * heads[i].ms))
  end
  local left = number()
  while left > 0 do
    local count = math.min(left, 500)
    left = left - count
    local keys, own, times = {}, {}, {}
    for i = 1, count do
      own[i], keys[i], times[i] = heads[number()], root .. 'claim:' .. text(), text()
    end
    local held, known = call('MGET', unpack(keys)), {}
    for i = 1, count do
      local head, key, time = own[i], keys[i], times[i]
      local was = counted(known[key] or held[i])
      if was and math.abs(time - was) < head.ms then head.agains = head.agains + 1
      else
        call('SET', key, time, 'PX', head.px)
        known[key] = time
        head.firsts = head.firsts + 1
      end
    end
  end
  for _, head in ipairs(heads) do
    local sums = pending(head.name, KEPT)
    if head.firsts > 0 then for _, one in ipairs(head.first) do pend(sums, 'add', one[1], one[2] * head.firsts) end end
    if head.agains > 0 then for _, one in ipairs(head.again) do pend(sums, 'add', one[1], one[2] * head.agains) end end
  end
end
`

/** Begins the error of an answer with more than Crosswalk writes, which ends with the key. */
export const LARGE = 'LARGE'

/** Bytes of one text, of which the largest are modes and comparisons, and of an answer: half of the longest text that V8 has. */
const MOST_TEXT = 2 ** 24
const MOST_BYTES = 2 ** 28

/**
 * What each kind of read finds, by its name: the stamp, and what `readFound` takes apart. What a live replica reads is kept, unless it was
 * meant for a short time: 100 batches are a fraction of the time that is left.
 */
const READS_SCRIPT = `
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
  if not whole(stamp) then return { '0' } end
  local from = known ~= '' and '(' .. known .. '-0' or '-'
  local found = { stamp }
  for _, item in ipairs(stamp ~= known and call('XRANGE', key, from, '+') or {}) do
    local members = item[2]
    if members[1] == 'replica' and members[3] == 'text' then
      found[#found + 1] = string.match(item[1], '%d+')
      found[#found + 1] = members[2]
      found[#found + 1] = members[4]
    end
  end
  return found
end
function FOUND.document(name)
  local held = call('HMGET', root .. 'document:' .. name, 'stamp', 'version', 'text')
  if not whole(held[2]) then return { '0', '0', '' } end
  return { held[1] or '0', held[2], held[3] or '' }
end
function FOUND.lease(name)
  local held = call('HMGET', root .. 'lease:' .. name, 'stamp', 'holder')
  return { held[1] or '0', held[2] }
end
function FOUND.replicas()
  local held, found = call('HGETALL', root .. 'beats'), { written(now) }
  for i = 1, #held, 2 do
    local untilTime, beat, given = string.match(held[i + 1], '^(%d+) (%d+) (.*)$')
    if untilTime and tonumber(untilTime) > now then
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
  return found and (read.kind == 'replicas' or found[1] ~= read.known) and found
end
local function bytesOf(found)
  local bytes = 0
  for _, one in ipairs(found or {}) do
    local length = one and #one or 0
    bytes = bytes + (length > ${MOST_TEXT} and ${MOST_BYTES} or 0) + length
  end
  return bytes
end
local function renew(reads)
  for _, read in ipairs(reads) do
    local key = root .. read.kind .. ':' .. read.name
    if call('PTTL', key) > KEPT / 2 then keep(key, KEPT) end
  end
end
`

/**
 * Refuses all of a batch if a key that it needs has another type: somebody else writes there. It comes before the first write, because what
 * Redis has done of a script stays done when a later command fails. An error begins with this word, and ends with the key.
 */
export const FOREIGN = 'FOREIGN'

/** The highest number that counts: beyond twice of it, adding 1 adds nothing. The time in microseconds is less than half of it. */
export const MOST_COUNTED = 2 ** 52

/** Defines `counted(text)`, which returns a number, and nil if the text is none that Crosswalk writes; and `whole(text)`, for those without a fraction or a sign. */
const NUMBERS_SCRIPT = `
local function counted(text)
  local n = tonumber(text)
  return n and math.abs(n) <= ${MOST_COUNTED} and n or nil
end
local function whole(text)
  local n = counted(text)
  return n and n >= 0 and n % 1 == 0 and n or nil
end
`

/** Defines `foreign(key, wanted)`, which returns an error, or nil if the key has the wanted type or does not exist. */
const TYPES_SCRIPT = `
local function foreign(key, wanted)
  local found = redis.call('TYPE', key).ok
  if found == wanted or found == 'none' then return nil end
  return redis.error_reply('${FOREIGN} ' .. found .. ' ' .. wanted .. ' ' .. string.gsub(key, '%c', '?'))
end
`

/**
 * Replaces a document if its version is the one given. After the deadline nothing is replaced, because the replica has given up by then:
 * Redis may have been frozen meanwhile. The deadline is a time of Redis in microseconds; '' is none.
 */
export const REPLACE_SCRIPT = `${TYPES_SCRIPT}${NUMBERS_SCRIPT}
local root, name, version, text, news, deadline = KEYS[1], unpack(ARGV)
local key = root .. 'document:' .. name
local problem = foreign(key, 'hash')
if problem then return problem end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local held = redis.call('HMGET', key, 'version', 'text', 'stamp')
local inForce, given = '0', ''
if whole(held[1]) then inForce, given = string.format('%.0f', held[1]), held[2] or '' end
if deadline ~= '' and now > tonumber(deadline) then return { 'late', inForce, given } end
if inForce ~= version then return { 'other', inForce, given } end
local stamp = string.format('%.0f', math.max(now, (whole(held[3]) or 0) + 1))
local nextVersion = string.format('%.0f', version + 1)
redis.call('HSET', key, 'version', nextVersion, 'text', text, 'stamp', stamp)
redis.call('PUBLISH', root .. 'news', news)
return { 'replaced', nextVersion, text }
`

/**
 * Sums are added up first, so that a batch costs three commands for each name and not one for each change. The field `STAMP` of a hash is
 * the stamp of its last change.
 */
const SUMS_SCRIPT = `
local names, order = {}, {}
local function pending(name, ms)
  local sums = names[name]
  if not sums then
    sums = { name = name, fields = {}, add = {}, most = {}, least = {} }
    names[name] = sums
    order[#order + 1] = sums
  end
  sums.keep = ms
  return sums
end
local function pend(sums, kind, field, value)
  if not (sums.add[field] or sums.most[field] or sums.least[field]) then sums.fields[#sums.fields + 1] = field end
  local held = sums[kind][field]
  if not held then sums[kind][field] = value
  elseif kind == 'add' then sums.add[field] = held + value
  else sums[kind][field] = math[kind == 'most' and 'max' or 'min'](held, value) end
end
local function flush(sums)
  local key = root .. 'sums:' .. sums.name
  for from = 1, #sums.fields, 500 do
    local asked = { 'HMGET', key, STAMP }
    for i = from, math.min(from + 499, #sums.fields) do asked[#asked + 1] = sums.fields[i] end
    local held = call(unpack(asked))
    local set = { 'HSET', key, STAMP, after(held[1]) }
    for i = 2, #held do
      local field, was = asked[i + 2], counted(held[i])
      local value = was or 0
      if sums.add[field] then value = value + sums.add[field] end
      if sums.most[field] then value = math.max(was or sums.most[field], sums.most[field]) end
      if sums.least[field] then value = math.min(was or sums.least[field], sums.least[field]) end
      if value ~= was then set[#set + 1] = field; set[#set + 1] = written(value) end
    end
    if #set > 4 then call(unpack(set)) end
  end
  keep(key, sums.keep)
end
local function fields(take)
  for _ = 1, number() do take(text(), number()) end
end
`

/** Numbers are written with 17 digits: Redis would cut them to integers, and Lua to 14 digits. Time and stamps are microseconds. */
const ARGUMENTS = `
local root, at, call = KEYS[1], 0, redis.call
local function text() at = at + 1; return ARGV[at] end
local function number() return tonumber(text()) end
local function written(n) return string.format('%.17g', n) end
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local STAMP = '\\0'
local function after(stamp) return written(math.max(now, (whole(stamp) or 0) + 1)) end
local function keep(key, ms) call('PEXPIRE', key, string.format('%.0f', ms)) end
local KEPT = number()
local replica, nth, news = text(), number(), text()
local isRead = nth == 0
`

/**
 * The types of all keys are looked at before anything is written. The number of the batch is written first. This command is refused when Redis is out of memory, so that no batch is applied in part.
 * A batch with the number 0 only reads.
 */
const BATCH = `
for _ = 1, number() do
  local problem = foreign(root .. text(), text())
  if problem then return problem end
end
local marker = root .. 'batch:' .. replica
local problem = nth > 0 and foreign(marker, 'string')
if problem then return problem end
local reads = {}
for i = 1, number() do reads[i] = { kind = text(), name = text(), known = text() } end
if nth > 0 and nth > (tonumber(call('GET', marker)) or 0) then
  call('SET', marker, written(nth), 'PX', 86400000)
  for _ = 1, number() do
    local kind, name, ms = text(), text(), number()
    CHANGES[kind](name, ms)
  end
  for _, set in ipairs(setOrder) do joinAll(set) end
  claim()
  for _, sums in ipairs(order) do flush(sums) end
  if nth % 100 == 0 then renew(reads) end
  if news ~= '' then call('PUBLISH', root .. 'news', news) end
end
local answer, bytes = { written(now) }, 0
for i, read in ipairs(reads) do
  answer[i + 1] = find(read)
  bytes = bytes + bytesOf(answer[i + 1])
  if bytes > ${MOST_BYTES} then return redis.error_reply('${LARGE} ' .. root .. read.kind .. ':' .. read.name) end
end
return answer
`

/**
 * Applies one batch of one replica and answers its reads, as `memory.ts` does. `exchangeArguments` writes
 * its arguments, `readFound` reads its answer. KEYS[1] begins every key, and holds the hash tag.
 */
export const EXCHANGE_SCRIPT = [
  NUMBERS_SCRIPT,
  ARGUMENTS,
  TYPES_SCRIPT,
  SUMS_SCRIPT,
  CHANGES_SCRIPT,
  CLAIMS_SCRIPT,
  READS_SCRIPT,
  BATCH,
].join('')
