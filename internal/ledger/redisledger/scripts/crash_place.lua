-- KEYS player; ARGV table, player's name, book, digest of the bet's id, its
-- first four bytes as a number, record, stake, worst case, currency, number that
-- was reserved, last number of the chain, '1' to refuse.
-- -> {'OK', count, record, balance, '1' when it was taken now}
--    | REUSED | PLACED | CLOSED | MOVED | REFUSED | FUNDS balance | LIMIT
local t, name, book, digest, spread, record, stake, worst, currency, reserved, last, refuse = unpack(ARGV)
stake, worst, spread, reserved, last = tonumber(stake), tonumber(worst), tonumber(spread), tonumber(reserved), tonumber(last)

local money = call('HMGET', KEYS[1], 'b' .. currency, 'x' .. currency)
local balance, exposure = units(money[1] or '0'), units(money[2] or '0')
if not balance or not exposure then return broken('balance') end
local kept = call('HMGET', pair_key(book), 'u', 'n', 'f')
local count = units(kept[2] or '0')
if not count or kept[1] and kept[1] ~= name then return broken('book') end

-- same reports whether a record is that of the bet that is asked for, whichever round it got.
local function same(r)
  local at = number_at(record)
  return #r == #record and r:byte(1) % 64 == record:byte(1) % 64 and r:sub(19, at - 1) == record:sub(19, at - 1)
    and r:sub(at + 4, at + 5) == record:sub(at + 4, at + 5)
    and math.floor(r:byte(at + 6) / 16) == math.floor(record:byte(at + 6) / 16)
    and r:sub(at + 9) == record:sub(at + 9)
end

local found = find_bet(book, count, digest, spread)
if found then
  local r = read_bet(book, found)
  if not r then return broken('index without a bet') end
  if same(r) then return {'OK', int(found), r, int(balance), ''} end
  if state(r) == OPEN or number_of(r) >= reserved then return {'REUSED'} end
end

if refuse == '1' then return {'REFUSED'} end
local phase = call('HMGET', phase_key(t), 'n', 'p', 'f')
local newest = units(phase[1] or nil)
local life = fence()
if not life then return broken('no master_replid') end
if not newest then return {'MOVED'} end -- the owner opens it just now
if phase[3] ~= life then return {'CLOSED'} end
if reserved ~= newest + 1 and not (reserved == newest and phase[2] == '1') then return {'MOVED'} end
if reserved > last then return {'CLOSED'} end
local number = int(reserved)
if call('HEXISTS', pair_key(book), 'b' .. number) == 1 then return {'PLACED'} end
if balance < stake then return {'FUNDS', int(balance)} end
if balance - stake + exposure + worst > MAX_UNITS then return {'LIMIT'} end
-- With the store bets may have been lost whose ids a wallet has seen. No other bet
-- gets one of those: as many counts are left out as leave no block empty.
if count > 0 and kept[3] ~= life then count = count + 127 end
if count > 4294967294 then return broken('book is full') end

local at = number_at(record)
record = record:sub(1, 1) .. number5(now() - EPOCH) .. record:sub(7, at - 1) .. number4(reserved) .. record:sub(at + 4)
balance = int(balance - stake)
local entry = int(count)
call('SADD', live_key(t), number)
call('HSET', bucket('r', book, count), int(count % 128), record)
call('HSET', index_key(book, top_level(count), spread), digest, entry)
call('HSET', bets_key(t, number), book .. '-' .. entry, name .. '\0' .. record)
call('HSET', pair_key(book), 'u', name, 'g', t, 'n', int(count + 1), 'f', life, 'b' .. number, entry)
call('HSET', KEYS[1], 'b' .. currency, balance, 'x' .. currency, int(exposure + worst))
return {'OK', entry, record, balance, '1'}
