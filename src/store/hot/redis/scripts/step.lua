-- One room's step: contribute, append, read. Everything is checked before the first write. Answers 0: missing; 1: overflow, nothing
-- applied; else where the item stands.
-- KEYS: item, dirty, comments, events, presence.
-- ARGV: id, writer ('': no add), prev, op, epoch and number of the last known event ('': none), events to keep, node, its people ('': not
-- told), how long they last in ms, then by number: increments (counter, n), comments (number, id, text), tag of the comments event, events (tag, text).

local next_arg = 0
local function take()
  next_arg = next_arg + 1
  return ARGV[next_arg]
end

local held, there = read(KEYS[1])
if not there then return 0 end
local id, writer, prev, op = take(), take(), take(), take()
local known_epoch, known_seq, keep = take(), take(), tonumber(take())
local node, people, lasts_ms = take(), take(), tonumber(take())
local at = held['w:' .. writer] or '0'
local taken = writer ~= '' and at == prev and below(at, op)

local fields = {}
for _ = 1, tonumber(take()) do
  local counter, n = take(), take()
  local delta = plus(held['delta:' .. counter] or '0', n)
  if taken then
    local flight = held['flight:' .. counter] or '0'
    if not (fits(delta) and fits(plus(held['base:' .. counter] or '0', delta)) and fits(minus(delta, flight))) then
      return 1
    end
    fields['delta:' .. counter] = delta
  end
end

local new, seen = {}, {}
for _ = 1, tonumber(take()) do
  local number, comment, text = take(), take(), take()
  if taken and not seen[comment] and redis.call('HEXISTS', KEYS[3], comment) == 0 then
    seen[comment] = true
    new[#new + 1] = { id = comment, number = number, text = text }
  end
end

local appended = {}
local seq = tonumber(held.seq)
local function append(tag, text)
  seq = seq + 1
  appended[#appended + 1] = string.format('%.0f', seq) .. ' ' .. tag .. ' ' .. text
end
local tag = take()
if #new > 0 then
  local texts = {}
  for i, comment in ipairs(new) do texts[i] = comment.text end
  append(tag, '{"t":"comments","list":[' .. table.concat(texts, ',') .. ']}')
end
if taken then
  at = op
  fields['w:' .. writer] = op
end
local stands = writer == '' or not below(at, op)
for _ = 1, tonumber(take()) do
  local event_tag, text = take(), take()
  if stands then append(event_tag, text) end
end

-- From here on it writes.
if taken then redis.call('SADD', KEYS[2], id) end
local order = tonumber(held.taken or '0')
for _, comment in ipairs(new) do
  order = order + 1
  local entry = string.format('%.0f', order) .. ' ' .. writer .. ' ' .. comment.number .. ' ' .. comment.text
  redis.call('HSET', KEYS[3], comment.id, entry)
end
if #new > 0 then fields.taken = string.format('%.0f', order) end
for _, entry in ipairs(appended) do redis.call('RPUSH', KEYS[4], entry) end
if #appended > 0 then
  redis.call('LTRIM', KEYS[4], -keep, -1)
  fields.seq = string.format('%.0f', seq)
end
local changes = {}
for field, value in pairs(fields) do
  held[field] = value
  changes[#changes + 1] = field
  changes[#changes + 1] = value
end
-- A handful: the counters of an add, and three numbers. More than a command can be handed go in parts.
for from = 1, #changes, 200 do
  redis.call('HSET', KEYS[1], unpack(changes, from, math.min(from + 199, #changes)))
end

local totals = {}
for field, value in pairs(held) do
  if field:sub(1, 5) == 'base:' or field:sub(1, 6) == 'delta:' then
    totals[#totals + 1] = field
    totals[#totals + 1] = value
  end
end
local wanted = keep
if known_epoch == held.epoch and tonumber(known_seq) <= seq then wanted = seq - tonumber(known_seq) end
local events = {}
if wanted > 0 and seq > 0 then events = redis.call('LRANGE', KEYS[4], -wanted, -1) end

local elsewhere = presence(KEYS[5], node, people, lasts_ms)
return { at, held['folded:' .. writer] or '0', held.fold, held.epoch, held.seq, totals, events, elsewhere }
