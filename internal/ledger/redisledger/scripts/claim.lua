-- KEYS outbox; ARGV operator, claim, most settlements, end of the lease, time
-- after which this call is too late, both in ms, claims in vain, first delay in
-- ms, settlements to sort.
-- -> {'OK', settlements, token, end}, or {'KEPT', ...} of those of an earlier call.
--    Of a settlement: 5 bytes sequence, 1 how often it was claimed, 14 slot
local operator, claim, room, ending, latest, attempts, backoff, sort =
  ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local claim_key, ready, dead = tag .. ':j:' .. operator .. ':' .. claim, tag .. ':y:' .. operator, tag .. ':d:' .. operator
local outbox = KEYS[1]
local ms = now()

local items = {}

-- give adds a run to the answer.
local function give(run)
  for at = 1, #run, 6 do
    local n = #items
    items[n + 1], items[n + 2] = run:sub(at, at + 5), slot_at(outbox, read5(run, at))
  end
end

local made = read(claim_key)
if made then
  if tonumber(made.e) <= ms then return {'OK', '', '0', '0'} end
  for field, run in pairs(made) do
    if field:sub(1, 1) == 'p' then give(run) end
  end
  return {'KEPT', table.concat(items), made.t, made.e}
end
if ms > latest or ms >= ending then return {'OK', '', '0', '0'} end

local at, last = sort_slots(operator, sort)
if not at then return broken(last) end

local got, token, persisted = {}, nil, {}

local function entry_key(sequence)
  local slot = slot_at(outbox, sequence)
  local nonce = nonce_of(slot)
  return bucket('a', pair_of(slot:sub(1, 10)).id, nonce), int(nonce % 128)
end

-- bury makes the oldest of a player's claimed settlements a dead letter.
local function bury(held)
  local sequence = read5(held, 1)
  local key, field = entry_key(sequence)
  call('ZADD', dead, int(sequence), int(sequence) .. ':attempts')
  call('HSET', key, field, held:sub(1, 5) .. string.char(DEAD * 16))
  return held:sub(7)
end

-- in_order sorts what is held of a player.
local function in_order(held)
  local parts = {}
  for i = 1, #held, 6 do parts[#parts + 1] = held:sub(i, i + 5) end
  table.sort(parts, function(a, b) return read5(a, 1) < read5(b, 1) end)
  return table.concat(parts)
end

local function lease(player)
  local state, list = tag .. ':k:' .. operator .. ':' .. player, tag .. ':l:' .. operator .. ':' .. player
  local kept = call('HMGET', state, 'h', 'f', 's')
  local held, claims = kept[1] or '', tonumber(kept[2] or '0')
  if kept[3] then
    local oldest = held:sub(1, 5)
    held = in_order(held)
    if held:sub(1, 5) ~= oldest then claims = 0 end
    call('HDEL', state, 's')
  end
  if held ~= '' and claims >= attempts then
    held, claims = bury(held), 0
  end
  local take = math.min(room, #held / 6)
  local run = {}
  for i = 1, take do
    local place = i * 6 - 5
    run[i] = held:sub(place, place + 4) .. string.char(math.min(255, held:byte(place + 5) + 1))
  end
  if take == #held / 6 and take < room then
    local fresh = call('LRANGE', list, 0, int(room - take - 1))
    if #fresh > 0 then call('LTRIM', list, #fresh, -1) end
    for _, sequence in ipairs(fresh) do run[#run + 1] = sequence .. '\1' end
  end
  if #run == 0 then
    call('ZREM', ready, player)
    call('DEL', state)
    return
  end
  local text = table.concat(run)
  give(text)
  claims = claims + 1
  room = room - #run
  token = token or int(math.max(tonumber(call('HGET', tag .. ':q:' .. operator, 't') or '0') + 1, (ms - EPOCH) * 1000))
  call('HSET', state, 'h', text .. held:sub(take * 6 + 1), 'f', int(claims), 'n', int(#run), 'T', token, 'E', int(ending), 'C', claim)
  call('ZADD', ready, int(ending + delay(claims, backoff)), player)
  got[#got + 1] = 'p' .. player
  got[#got + 1] = text
  -- What is claimed again may be old: its entries must not go.
  for i = 1, take * 6, 6 do
    local key = entry_key(read5(text, i))
    if not persisted[key] then
      persisted[key] = true
      call('PERSIST', key)
    end
  end
end

-- Each pass finds other players: those that were leased are due later.
while room > 0 do
  local due = call('ZRANGEBYSCORE', ready, '-inf', int(ms), 'LIMIT', 0, math.min(room, 100))
  if #due == 0 then break end
  for _, player in ipairs(due) do
    if room == 0 then break end
    lease(player)
  end
end
if #got == 0 then return {'OK', '', '0', '0'} end
call('HSET', tag .. ':q:' .. operator, 't', token)
call('HSET', claim_key, 't', token, 'e', int(ending), unpack(got))
call('PEXPIREAT', claim_key, int(ending + 3600000))
return {'OK', table.concat(items), token, int(ending)}
