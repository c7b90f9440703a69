-- Keeps how many people a node has ('': nothing new, '0': none any more) and answers how many the others have, as "people deadline" by
-- node. What has run out by this server's own clock is dropped; the key runs out with the last of them.
local function presence(key, node, people, lasts_ms)
  local time = redis.call('TIME')
  local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  if people == '0' then redis.call('HDEL', key, node) end
  if people ~= '' and people ~= '0' then
    redis.call('HSET', key, node, people .. ' ' .. string.format('%.0f', now_ms + lasts_ms))
  end
  local told, elsewhere, last_ms = redis.call('HGETALL', key), 0, 0
  for i = 1, #told, 2 do
    local n, until_ms = told[i + 1]:match('^(%d+) (%d+)$')
    if tonumber(until_ms) <= now_ms then
      redis.call('HDEL', key, told[i])
    else
      last_ms = math.max(last_ms, tonumber(until_ms))
      if told[i] ~= node then elsewhere = elsewhere + tonumber(n) end
    end
  end
  if people ~= '' and last_ms > 0 then redis.call('PEXPIREAT', key, string.format('%.0f', last_ms)) end
  return elsewhere
end

