-- An item's hash as a table, and the vectors in it: `w:`, `folded:` and `flown:` (the flight's) with a writer each.

local function read(key)
  local flat, held = redis.call('HGETALL', key), {}
  for i = 1, #flat, 2 do held[flat[i]] = flat[i + 1] end
  return held, #flat > 0
end

-- The part of a hash under a prefix, without it.
local function under(held, prefix)
  local part = {}
  for field, value in pairs(held) do
    if field:sub(1, #prefix) == prefix then part[field:sub(#prefix + 1)] = value end
  end
  return part
end

local function same(a, b)
  for key, value in pairs(a) do if b[key] ~= value then return false end end
  for key in pairs(b) do if a[key] == nil then return false end end
  return true
end

local function flat(part)
  local list = {}
  for key, value in pairs(part) do
    list[#list + 1] = key
    list[#list + 1] = value
  end
  return list
end

-- Comments that a vector covers: their ids, and what is kept of each ("order writer number comment").
local function covered(key, w)
  local kept, ids, entries = redis.call('HGETALL', key), {}, {}
  for i = 1, #kept, 2 do
    local writer, number = kept[i + 1]:match('^%d+ (%x+) (%d+) ')
    if w[writer] and not below(w[writer], number) then
      ids[#ids + 1], entries[#entries + 1] = kept[i], kept[i + 1]
    end
  end
  return ids, entries
end

