-- Lets an item go if nothing of it is unfolded or in flight. Answers 1: it is gone; 0: it stays.
-- KEYS: item, dirty, comments, events. ARGV: id.

local held = read(KEYS[1])
if held.flying or not same(under(held, 'w:'), under(held, 'folded:')) then return 0 end
redis.call('DEL', KEYS[1], KEYS[3], KEYS[4])
redis.call('SREM', KEYS[2], ARGV[1])
return 1
