-- One step of an item's fence, named by the first argument.
-- KEYS: likes (entries `open:<writer>:<number>`, `fence`, `until`, `quiet:<writer>`), fenced (items with such a key), recount (item to
-- mark), filter (see filter.lua). ARGV: step, id, then by step: open: an entry; close: an entry, a new mark; raise and hold: token, ms; seal: token;
-- quiet: writer; doubt and list: a new mark; filter: token, bytes, ms that it lives; lift: token, and the mark that was known if the counter is
-- exact.

local step, id = ARGV[1], ARGV[2]
local time = redis.call('TIME')
local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local function stands()
  local till = redis.call('HGET', KEYS[1], 'until')
  return till and now_ms < tonumber(till)
end

local function fields(prefix)
  local found = {}
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    if field:sub(1, #prefix) == prefix then found[#found + 1] = field:sub(#prefix + 1) end
  end
  return found
end

local function take_down()
  redis.call('HDEL', KEYS[1], 'fence', 'until')
  for _, writer in ipairs(fields('quiet:')) do redis.call('HDEL', KEYS[1], 'quiet:' .. writer) end
end

local function forget_if_bare()
  if redis.call('HLEN', KEYS[1]) == 0 then redis.call('SREM', KEYS[2], id) end
end

local function doubt(mark)
  redis.call('HSET', KEYS[3], id, mark)
  redis.call('DEL', KEYS[4])
end

if step == 'open' then
  if stands() then return 0 end
  -- One that ran out is gone from here on: its recount must not end as if nothing had happened.
  take_down()
  redis.call('HSET', KEYS[1], 'open:' .. ARGV[3], '1')
  redis.call('SADD', KEYS[2], id)
  return 1
elseif step == 'close' then
  if redis.call('HDEL', KEYS[1], 'open:' .. ARGV[3]) == 0 then doubt(ARGV[4]) end
  forget_if_bare()
  return 1
elseif step == 'raise' or step == 'hold' then
  local mine = redis.call('HGET', KEYS[1], 'fence') == ARGV[3]
  if step == 'hold' and not mine then return 0 end
  if stands() and not mine then return 0 end
  if step == 'raise' then take_down() end
  redis.call('HSET', KEYS[1], 'fence', ARGV[3], 'until', string.format('%.0f', now_ms + tonumber(ARGV[4])))
  redis.call('SADD', KEYS[2], id)
  redis.call('HSETNX', KEYS[3], id, ARGV[3])
  return { redis.call('HGET', KEYS[3], id), fields('quiet:') }
elseif step == 'seal' then
  if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[3] then return 0 end
  for _, entry in ipairs(fields('open:')) do redis.call('HDEL', KEYS[1], 'open:' .. entry) end
  return 1
elseif step == 'doubt' then
  doubt(ARGV[3])
  return 1
elseif step == 'list' then
  return redis.call('HSETNX', KEYS[3], id, ARGV[3])
elseif step == 'filter' then
  if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[3] or not stands() then return 0 end
  redis.call('SET', KEYS[4], ARGV[3] .. 'b', 'PX', ARGV[5])
  redis.call('SETRANGE', KEYS[4], 63 + tonumber(ARGV[4]), '\0')
  return 1
elseif step == 'quiet' then
  if redis.call('HEXISTS', KEYS[1], 'fence') == 1 then redis.call('HSET', KEYS[1], 'quiet:' .. ARGV[3], '1') end
  return 1
end

-- lift
local mine, exact = redis.call('HGET', KEYS[1], 'fence') == ARGV[3], ARGV[4] ~= ''
if mine then take_down() end
if mine and exact then
  if redis.call('HGET', KEYS[3], id) == ARGV[4] then redis.call('HDEL', KEYS[3], id) end
elseif exact then
  doubt(ARGV[3])
end
forget_if_bare()
return mine and 1 or 0
