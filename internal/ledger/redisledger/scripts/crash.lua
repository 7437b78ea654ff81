-- Stands between round.lua and the scripts of crash bets, which live in the
-- partition of their player:
--   s:<book>   u player, g table, n the next count, f fence of the newest bet, b<number> the live bet of a round
--   i:<book>:  index of bet ids, as that of seed pairs
--   ct:<table>         n newest round, p '1' while it takes bets, e epoch, w owner, f fence when it was opened
--   cb:<table>:<number> unsettled bets of a round: <book>-<count> = player 0 record
--   cn:<table>:<number> settled bets of it
--   cl:<table>         numbers of rounds that have unsettled bets
-- A record's content is stake, currency, number (4 bytes), target and cash-out
-- (20 bits each), the bet's id.

local VOID = 3

local function phase_key(t) return tag .. ':ct:' .. t end
local function bets_key(t, number) return tag .. ':cb:' .. t .. ':' .. number end
local function count_key(t, number) return tag .. ':cn:' .. t .. ':' .. number end
local function live_key(t) return tag .. ':cl:' .. t end

local function number4(n) return number5(n):sub(2) end

-- number_at returns where the table's number stands in a record.
local function number_at(record)
  local at = 26
  while record:byte(at) >= 128 do at = at + 1 end
  return at + 1
end

local function number_of(record, at)
  at = at or number_at(record)
  local a, b, c, d = record:byte(at, at + 3)
  return ((a * 256 + b) * 256 + c) * 256 + d
end

-- read_bet returns the record of a bet; nil when there is none.
local function read_bet(book, count)
  return call('HGET', bucket('r', book, count), int(count % 128)) or nil
end

-- The index of bet ids has levels: level i holds 256 * 2^i bets in 2^i hashes.
local function index_key(book, level, spread)
  return tag .. ':i:' .. book .. ':' .. int(level) .. ':' .. int(spread % 2 ^ level)
end

-- top_level returns the level that a bet's count belongs to.
local function top_level(count)
  local level, last, size = 0, 256, 256
  while count >= last do
    level, size = level + 1, size * 2
    last = last + size
  end
  return level
end

-- find_bet returns the count of the newest bet with an id; nil when there is none.
local function find_bet(book, counts, digest, spread)
  if counts == 0 then return nil end
  for level = top_level(counts - 1), 0, -1 do
    local found = call('HGET', index_key(book, level, spread), digest)
    if found then return tonumber(found) end
  end
end

-- leave_round takes bets that have ended from the unsettled ones of their round, some
-- of which count as settled. A round that has none left is forgotten.
local function leave_round(t, number, entries, counted)
  call('HDEL', bets_key(t, number), unpack(entries))
  if counted > 0 then call('INCRBY', count_key(t, number), counted) end
  if call('EXISTS', bets_key(t, number)) == 0 then call('SREM', live_key(t), number) end
end

-- stranger reports whether another has taken the table in this partition.
local function stranger(t, epoch, owner)
  local kept = call('HMGET', phase_key(t), 'e', 'w')
  local e = units(kept[1] or '0')
  return not e or e > epoch or e == epoch and kept[2] ~= owner
end

-- next_place returns where the next settlement goes: what is known of the outbox,
-- which is read once a run, and the offset in its block; nil when its counter is
-- none. A block of another type, or that has moved to another node, fails here.
local ends = {}
local function next_place(outbox)
  local e = ends[outbox]
  if not e then
    e = {newest = units(call('GET', outbox) or '0')}
    if not e.newest then return nil end
    ends[outbox] = e
  end
  local place = e.newest % 255
  if not e.block or place == 0 then
    e.block = outbox .. ':' .. int((e.newest - place) / 255)
    call('STRLEN', e.block)
  end
  return e, place * 16
end

-- end_bet ends an open bet, credits it and appends it to the outbox. It returns
-- the record, the balance and the number of the round, or nil and an error's word.
-- Everything is checked before the first write. The caller has it leave its round.
local function end_bet(name, book, count, record, ending, targets, payout, payout7, worst, currency, outbox, slot)
  local user = tag .. ':u:' .. name
  local b, x = 'b' .. currency, 'x' .. currency
  local money = call('HMGET', user, b, x)
  local balance, exposure = units(money[1] or nil), units(money[2] or nil)
  if not balance or not exposure then return nil, 'balance' end
  if payout > worst or exposure < worst or balance + payout > MAX_UNITS then return nil, 'payout' end
  local e, offset = next_place(outbox)
  if not e then return nil, 'outbox' end

  local at = number_at(record)
  local number = int(number_of(record, at))
  record = ended(record, ending, record:sub(2, 6)) .. number5(now() - EPOCH) .. payout7
    .. record:sub(19, at + 3) .. targets .. record:sub(at + 9)
  balance = int(balance + payout)
  append_outbox(outbox, e.block, offset, slot)
  e.newest = e.newest + 1
  call('HSET', bucket('r', book, count), int(count % 128), record)
  call('HSET', user, b, balance, x, int(exposure - worst))
  call('HDEL', pair_key(book), 'b' .. number)
  return record, balance, number
end
