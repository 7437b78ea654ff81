-- KEYS state; ARGV epoch, owner, life, number, phases from which, phase to, then
-- fields to set, 'NOW' for the time; of phase 1: rounds skipped, genesis and
-- period of the beacon ('0' for none), mask, betting, all in microseconds; from phase
-- 5 to phase 5, which skips rounds: why they are void.
-- -> {'OK', state, life, newest event, now} | FENCED | REPLACED | STEP | LATE
local epoch, owner, seen, number, from, to = unpack(ARGV)
if fenced(epoch, owner) then return {'FENCED'} end
local life = fence()
if not life then return broken('no master_replid') end
if life ~= seen then return {'REPLACED'} end
local h = read(KEYS[1]) or {n = '0', p = '5'}
if h.n == number and h.p == to then return answer_state() end
if not from:find(h.p, 1, true) then return {'STEP'} end
local time = micros()

-- named returns the first round of a beacon that is published a second after the lock or later, and when.
local function named(genesis, period, lock)
  if period == 0 then return 0, 0 end
  local since = math.max(0, lock + 1000000 - genesis)
  local rest = math.fmod(since, period)
  local periods = (since - rest) / period
  if rest > 0 then periods = periods + 1 end
  return periods + 1, genesis + periods * period
end

-- open_round writes the opening record, and moves what was reserved for bets in the queue.
local function open_round(skipped, genesis, period, mask, betting)
  local x = tag .. ':x'
  local queued, field = int(tonumber(h.n) + 1) .. ':'
  for i, v in ipairs(call('HGETALL', x)) do
    if i % 2 == 1 then field = v else
      local mine = field:sub(1, #queued) == queued
      if not mine or queued ~= number .. ':' then call('HDEL', x, field) end
      if mine and queued ~= number .. ':' then call('HSET', x, number .. ':' .. field:sub(#queued + 1), v) end
    end
  end
  if tonumber(skipped) > 0 then
    local first, last = int(tonumber(number) - tonumber(skipped)), int(tonumber(number) - 1)
    call('ZADD', tag .. ':v', last, first .. ' ' .. last .. ' ' .. time .. ' STORE_REPLACED')
  end
  local lock = tonumber(time) + tonumber(betting)
  local beacon, published = named(tonumber(genesis), tonumber(period), lock)
  call('DEL', KEYS[1])
  call('HSET', KEYS[1], 'n', number, 'p', '1', 'f', life, 'o', time, 'k', int(lock), 'b', int(beacon), 'q', int(published), 'a', mask)
end

local function keep_history()
  h = read(KEYS[1])
  local function since(a, b) return a and b and int(tonumber(a) - tonumber(b)) or '' end
  local text = table.concat({h.o, since(h.k, h.o), since(h.t, h.k), since(h.c, h.t or h.k), h.b or '', h.z or '', h.m or '0', h.v or ''}, ' ')
  local bucket, place = int(math.floor(tonumber(number) / 128)), int(tonumber(number) % 128)
  call('HSET', tag .. ':h:' .. bucket, place, text)
  if h.w then call('HSET', tag .. ':w:' .. bucket, place, h.w) end
end

-- tell announces the step together with it, so that no watcher misses a phase or
-- a crash, whatever becomes of the owner.
local function tell()
  local after = read(KEYS[1])
  after.a, after.at = nil, time
  local function event(what)
    after.what = what
    return show(after)
  end
  announce(to == '4' and {event('crash'), event('phase')} or {event('phase')})
end

if to == '1' then
  if tonumber(number) <= tonumber(h.n) then return {'STEP'} end
  open_round(ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11])
  tell()
  return answer_state()
end
-- The rounds up to the number may have been opened in time that was lost.
if to == '5' and from == '5' then
  local first = int(tonumber(h.n) + 1)
  if tonumber(number) < tonumber(first) then return {'STEP'} end
  call('ZADD', tag .. ':v', number, first .. ' ' .. number .. ' ' .. time .. ' ' .. ARGV[7])
  call('DEL', KEYS[1], tag .. ':x')
  call('HSET', KEYS[1], 'n', number, 'p', '5', 'f', life, 'o', time, 'k', time, 'v', ARGV[7])
  tell()
  return answer_state()
end
if h.n ~= number then return {'STEP'} end
if to == '2' and (tonumber(h.q) or 0) > 0 and tonumber(time) >= tonumber(h.q) then return {'LATE'} end
local fields = {'p', to}
for i = 7, #ARGV, 2 do
  fields[#fields + 1] = ARGV[i]
  fields[#fields + 1] = ARGV[i + 1] == 'NOW' and time or ARGV[i + 1]
end
call('HSET', KEYS[1], unpack(fields))
if to == '5' then keep_history() end
if to ~= '5' or h.v then tell() end -- every bet is settled: nothing that is watched, unless the round is void
return answer_state()
