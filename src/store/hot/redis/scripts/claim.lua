-- Puts what is not folded into a flight unless there is one, and answers the flight that there then is: fold, increments, its vector,
-- its comments; 0: nothing to fold. Asks for w ~= folded, not for a delta: increments that cancel out still have to be folded.
-- KEYS: item, comments. ARGV: writers that are gone; the folded ones among them leave the vectors here and nowhere else.

local held, there = read(KEYS[1])
if not there then return 0 end
if held.flying then
  local w = under(held, 'flown:')
  local _, entries = covered(KEYS[2], w)
  return { held.fold, flat(under(held, 'flight:')), flat(w), entries }
end
local w, folded = under(held, 'w:'), under(held, 'folded:')
if same(w, folded) then return 0 end

for _, writer in ipairs(ARGV) do
  if w[writer] and w[writer] == folded[writer] then
    w[writer] = nil
    redis.call('HDEL', KEYS[1], 'w:' .. writer)
  end
end
for writer in pairs(folded) do
  if not w[writer] then redis.call('HDEL', KEYS[1], 'folded:' .. writer) end
end
local increments = under(held, 'delta:')
redis.call('HSET', KEYS[1], 'flying', '1')
for counter, n in pairs(increments) do redis.call('HSET', KEYS[1], 'flight:' .. counter, n) end
for writer, op in pairs(w) do redis.call('HSET', KEYS[1], 'flown:' .. writer, op) end
local _, entries = covered(KEYS[2], w)
return { held.fold, flat(increments), flat(w), entries }
