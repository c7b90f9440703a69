-- One step of an item's filter of who may like it, named by the first argument.
-- KEYS: filter: 36 bytes of its token, `b` while it is being built or `r`, up to 64 bytes nothing, then its bits, a power of two of them.
-- ARGV: step, then by step: note, maybe: people; fill: token, ms that it lives on, people; finish: token, ms. A person is two 32-bit numbers, of
-- which the places follow.

local HEADER_BITS = 512
local step, bytes = ARGV[1], redis.call('STRLEN', KEYS[1]) - HEADER_BITS / 8
if bytes <= 0 then return 0 end

local function places(n)
  local first, second = tonumber(ARGV[n]), tonumber(ARGV[n + 1])
  return HEADER_BITS + first % (bytes * 8), HEADER_BITS + (first + second) % (bytes * 8)
end

local function add(from)
  for n = from, #ARGV, 2 do
    local one, other = places(n)
    redis.call('SETBIT', KEYS[1], one, 1)
    redis.call('SETBIT', KEYS[1], other, 1)
  end
end

if step == 'note' then
  add(2)
  return bytes
elseif step == 'maybe' then
  if redis.call('GETRANGE', KEYS[1], 36, 36) ~= 'r' then return 0 end
  local found = {}
  for n = 2, #ARGV, 2 do
    local one, other = places(n)
    found[#found + 1] = redis.call('GETBIT', KEYS[1], one) == 1 and redis.call('GETBIT', KEYS[1], other) or 0
  end
  return found
end

-- fill and finish
if redis.call('GETRANGE', KEYS[1], 0, 35) ~= ARGV[2] then return 0 end
if step == 'fill' then add(4) else redis.call('SETRANGE', KEYS[1], 36, 'r') end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
