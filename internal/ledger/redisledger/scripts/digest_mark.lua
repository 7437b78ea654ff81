-- KEYS outbox; ARGV operator, settlements to look at, first hour, hour after the
-- last, both counted from 1970.
-- -> {'OK', first sequence, that after the last, '1' when more can come, now} of the hours
--    | {'LATER'} when there are more to look at
-- The hour of a settlement is that of the greatest settle time up to it, so that
-- an hour is a run of sequences also where the clock stepped back. An hour that
-- was once answered as complete stays so: whatever comes counts as later.
--   gq:<operator>  c sequence up to which hours are marked, h hour of it
--   g:<operator>   first sequences of hours, hour:sequence, by hour
local HOUR = 3600000
local operator, count, from, to = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local state_key, marks = tag .. ':gq:' .. operator, tag .. ':g:' .. operator
local kept = call('HMGET', state_key, 'c', 'h')
local at, hour, last = units(kept[1] or '0'), units(kept[2] or '0'), units(call('GET', KEYS[1]) or '0')
if not at or not hour or not last then return broken('outbox') end

local stop, fresh, was = math.min(last, at + count), {}, hour
local slots = at < stop and read_slots(KEYS[1], at, stop) or ''
local marked = call('ZREVRANGE', marks, 0, 0)
marked = marked[1] and tonumber(marked[1]:match('^%d+')) or -1
for i = 1, #slots, 16 do
  local slot = slots:sub(i, i + 15)
  local nonce = nonce_of(slot)
  local record = call('HGET', bucket('r', pair_of(slot:sub(1, 10)).id, nonce), int(nonce % 128))
  if not record then return broken('settlement without a round') end
  hour = math.max(hour, math.floor((read5(record, 7) + EPOCH) / HOUR))
  if hour > marked then
    marked = hour
    fresh[#fresh + 1] = int(hour)
    fresh[#fresh + 1] = int(hour) .. ':' .. int(at + (i + 15) / 16)
  end
end

local ms = now()
local complete = stop == last and ms >= to * HOUR
if complete then hour = math.max(hour, to) end
if #fresh > 0 then call('ZADD', marks, unpack(fresh)) end
if stop > at or hour > was then
  call('HSET', state_key, 'c', int(stop), 'h', int(hour))
  call('ZREMRANGEBYSCORE', marks, '-inf', int(math.floor(ms / HOUR) - 402 * 24))
end
if stop < last then return {'LATER'} end

local function first_from(h)
  local found = call('ZRANGEBYSCORE', marks, int(h), '+inf', 'LIMIT', 0, 1)
  return found[1] and found[1]:match(':(%d+)$') or int(last + 1)
end
return {'OK', first_from(from), first_from(to), complete and '' or '1', int(ms)}
