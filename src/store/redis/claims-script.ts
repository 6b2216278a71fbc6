/**
 * Claims that add the same to the same name share a head, so that each is no more than the number of its head, its key and its time. The
 * keys are read 500 at a time.
 */
export const CLAIMS_SCRIPT = `
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
      local was = known[key] or held[i]
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
