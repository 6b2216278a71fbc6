/**
 * Sums are added up first, so that a batch costs three commands for each name and not one for each change. The field `STAMP` of a hash is
 * the stamp of its last change.
 */
export const SUMS_SCRIPT = `
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
      local field, was = asked[i + 2], tonumber(held[i])
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
