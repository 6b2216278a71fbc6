import { CHANGES_SCRIPT } from './changes-script.ts'
import { CLAIMS_SCRIPT } from './claims-script.ts'
import { READS_SCRIPT } from './reads-script.ts'
import { SUMS_SCRIPT } from './sums-script.ts'
import { TYPES_SCRIPT } from './types-script.ts'

/** Numbers are written with 17 digits: Redis would cut them to integers, and Lua to 14 digits. Time and stamps are microseconds. */
const ARGUMENTS = `
local root, at, call = KEYS[1], 0, redis.call
local function text() at = at + 1; return ARGV[at] end
local function number() return tonumber(text()) end
local function written(n) return string.format('%.17g', n) end
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local STAMP = '\\0'
local function after(stamp) return written(math.max(now, (tonumber(stamp) or 0) + 1)) end
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
local reads = {}
for i = 1, number() do reads[i] = { kind = text(), name = text(), known = text() } end
local marker = root .. 'batch:' .. replica
if nth > tonumber(call('GET', marker) or 0) then
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
local answer = { written(now) }
for i, read in ipairs(reads) do answer[i + 1] = find(read) end
return answer
`

/**
 * Applies one batch of one replica and answers its reads, as `memory/apply-change.ts` and `memory/find.ts` do. `exchangeArguments` writes
 * its arguments, `readFound` reads its answer. KEYS[1] begins every key, and holds the hash tag.
 */
export const EXCHANGE_SCRIPT = [ARGUMENTS, TYPES_SCRIPT, SUMS_SCRIPT, CHANGES_SCRIPT, CLAIMS_SCRIPT, READS_SCRIPT, BATCH].join('')
