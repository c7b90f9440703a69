-- Lets an item go if nothing of it is unfolded or in flight and no node has people who watch it. Answers 1: it is gone; 0: it stays.
-- KEYS: item, dirty, comments, events, presence (which runs out by itself). ARGV: id.

if redis.call('EXISTS', KEYS[5]) == 1 then return 0 end
local held = read(KEYS[1])
if held.flying or not same(under(held, 'w:'), under(held, 'folded:')) then return 0 end
redis.call('DEL', KEYS[1], KEYS[3], KEYS[4])
redis.call('SREM', KEYS[2], ARGV[1])
return 1
