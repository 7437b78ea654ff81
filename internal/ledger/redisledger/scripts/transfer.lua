-- Stands between round.lua and the scripts of transfers. A transfer has two
-- records, each in a hash of its own partition, under a digest of its operator
-- and id:
--   t:<operator>  at home, the partition of that digest
--     0 state * 16 + direction * 4 + refusal, 1..5 created, 6..12 balance (while
--     begun: end of the lease), 13..19 amount, then currency and player, packed by Go
--   ta:<operator> in the partition of the player, where it is decided, once
--     0 as above without direction, 1..7 balance
-- The hashes are made anew every 100 days and go 400 days after their time, so
-- that a record is found for at least 400 days; each has 256 parts, which stay
-- listpacks up to some two million transfers a day and partition.

local BEGUN, APPLIED, REFUSED, CANCELLED = 1, 2, 3, 4
local DEPOSIT, WITHDRAWAL = 1, 2
local FUNDS, LIMIT = 1, 2

local DAY = 86400000
local PERIOD = 100 * DAY

-- number7 writes a whole number below 2^56.
local function number7(n)
  local high = math.floor(n / 1099511627776)
  return string.char(math.floor(high / 256), high % 256) .. number5(n % 1099511627776)
end

-- read7 reads it from a place on.
local function read7(text, at)
  local n = 0
  for i = at, at + 6 do n = n * 256 + text:byte(i) end
  return n
end

-- find_transfer returns a record, nil when there is none, and the key where it
-- is or belongs. It looks one period ahead, too: a clock that steps back over the
-- border of a period must not hide what was booked.
local function find_transfer(kind, part, digest)
  local period = math.floor(now() / PERIOD)
  for p = period + 1, period - 4, -1 do
    local key = kind .. ':' .. int(p) .. ':' .. part
    local record = call('HGET', key, digest)
    if record then return record, key end
  end
  return nil, kind .. ':' .. int(period) .. ':' .. part
end

local function keep_transfer(key, digest, record)
  call('HSET', key, digest, record)
  call('PEXPIREAT', key, int((math.floor(now() / PERIOD) + 1) * PERIOD + 400 * DAY))
end

local function transfer_state(record) return math.floor(record:byte(1) / 16) end
