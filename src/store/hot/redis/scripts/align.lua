-- Brings the item in line with its document. Answers what it did: settled, laid, nothing, behind.
-- KEYS: item, dirty, comments, events.
-- ARGV: id, an epoch in case the item is laid anew, the document's fold, then by number: totals (counter, n), folded (writer, op).

local id, epoch, fold = ARGV[1], ARGV[2], ARGV[3]
local next_arg = 3
local function pairs_of_args()
  next_arg = next_arg + 1
  local part = {}
  for _ = 1, tonumber(ARGV[next_arg]) do
    part[ARGV[next_arg + 1]] = ARGV[next_arg + 2]
    next_arg = next_arg + 2
  end
  return part
end
local totals, folded = pairs_of_args(), pairs_of_args()

local held, there = read(KEYS[1])
if there and held.fold == fold then return 'nothing' end
if there and below(fold, held.fold) then return 'behind' end

-- Only the very flight that the document names is settled: after a roll-back of either store the folds may fit though the contents do not.
if there and held.flying and plus(held.fold, '1') == fold and same(under(held, 'flown:'), folded) then
  local ids = covered(KEYS[3], folded)
  for counter, n in pairs(under(held, 'flight:')) do
    redis.call('HSET', KEYS[1], 'base:' .. counter, plus(held['base:' .. counter] or '0', n))
    redis.call('HSET', KEYS[1], 'delta:' .. counter, minus(held['delta:' .. counter] or '0', n))
    redis.call('HDEL', KEYS[1], 'flight:' .. counter)
  end
  for writer in pairs(under(held, 'folded:')) do
    if not folded[writer] then redis.call('HDEL', KEYS[1], 'folded:' .. writer) end
  end
  for writer, op in pairs(folded) do
    redis.call('HSET', KEYS[1], 'folded:' .. writer, op)
    redis.call('HDEL', KEYS[1], 'flown:' .. writer)
  end
  redis.call('HDEL', KEYS[1], 'flying')
  redis.call('HSET', KEYS[1], 'fold', fold)
  for _, comment in ipairs(ids) do redis.call('HDEL', KEYS[3], comment) end
  if same(under(held, 'w:'), folded) then redis.call('SREM', KEYS[2], id) end
  return 'settled'
end

redis.call('DEL', KEYS[1], KEYS[3], KEYS[4])
redis.call('SREM', KEYS[2], id)
redis.call('HSET', KEYS[1], 'fold', fold, 'epoch', epoch, 'seq', '0')
for counter, n in pairs(totals) do redis.call('HSET', KEYS[1], 'base:' .. counter, n) end
for writer, op in pairs(folded) do redis.call('HSET', KEYS[1], 'w:' .. writer, op, 'folded:' .. writer, op) end
return 'laid'
