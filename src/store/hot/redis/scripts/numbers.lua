-- Exact integers as decimal text, of any length. Lua's own numbers end at 2^53 and print 16 digits as 1e15, so they are used
-- only where both sides have 15 characters at most: their sum is exact.

local function sign_and_digits(n)
  if n:sub(1, 1) == '-' then return '-', n:sub(2) end
  return '', n
end

-- a < b, for digits without leading zeros.
local function below(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end

-- a + b (direction 1), or a - b (direction -1) where a is the larger, for digits.
local function by_digits(a, b, direction)
  local out, carry = {}, 0
  for place = 0, math.max(#a, #b) - 1 do
    -- Never past the first digit: a negative index counts from the end.
    local digit = carry
    if place < #a then digit = digit + tonumber(a:sub(#a - place, #a - place)) end
    if place < #b then digit = digit + direction * tonumber(b:sub(#b - place, #b - place)) end
    carry = math.floor(digit / 10)
    out[#out + 1] = digit - carry * 10
  end
  if carry > 0 then out[#out + 1] = carry end
  local digits = table.concat(out):reverse():gsub('^0+', '')
  return digits == '' and '0' or digits
end

local function plus(a, b)
  if #a <= 15 and #b <= 15 then return string.format('%.0f', tonumber(a) + tonumber(b)) end
  local sign_a, digits_a = sign_and_digits(a)
  local sign_b, digits_b = sign_and_digits(b)
  if sign_a == sign_b then return sign_a .. by_digits(digits_a, digits_b, 1) end
  if digits_a == digits_b then return '0' end
  if below(digits_a, digits_b) then return sign_b .. by_digits(digits_b, digits_a, -1) end
  return sign_a .. by_digits(digits_a, digits_b, -1)
end

local function minus(a, b)
  if b == '0' then return a end
  local sign, digits = sign_and_digits(b)
  return plus(a, sign == '-' and digits or '-' .. digits)
end

-- Whether it is a signed 64-bit integer.
local function fits(n)
  local sign, digits = sign_and_digits(n)
  return not below(sign == '-' and '9223372036854775808' or '9223372036854775807', digits)
end

