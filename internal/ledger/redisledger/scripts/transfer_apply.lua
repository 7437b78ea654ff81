-- KEYS player, records of his partition; ARGV part, digest, direction, amount,
-- currency, '1' to cancel it unless it was decided.
-- -> {'OK', record, '1' when it was decided now}
local part, digest, direction, amount, currency, cancel =
  ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], ARGV[6]
local record, key = find_transfer(KEYS[2], part, digest)
if record then return {'OK', record, ''} end

local kept = call('HMGET', KEYS[1], 'b' .. currency, 'x' .. currency)
local balance, exposure = units(kept[1] or '0'), units(kept[2] or '0')
if not balance or not exposure then return broken('balance') end
local state, refusal = APPLIED, 0
if cancel == '1' then
  state = CANCELLED
elseif direction == WITHDRAWAL and amount > balance then
  state, refusal = REFUSED, FUNDS
elseif direction == DEPOSIT and balance + exposure + amount > MAX_UNITS then
  state, refusal = REFUSED, LIMIT
else
  balance = direction == DEPOSIT and balance + amount or balance - amount
end
record = string.char(state * 16 + refusal) .. number7(balance)
-- Should the second write fail after all, its transfer is not booked and says
-- so nowhere; both keys were read above, so that it cannot.
if state == APPLIED then call('HSET', KEYS[1], 'b' .. currency, int(balance)) end
keep_transfer(key, digest, record)
return {'OK', record, '1'}
