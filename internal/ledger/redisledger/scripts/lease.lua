-- Stands between feed.lua and the scripts of a claim.

-- lease_players leases to a claim what is due in this partition, up to room
-- settlements, unless it is past latest or the lease has ended. attempts is how many
-- claims in vain, that were not given back, make a dead letter, backoff the first
-- delay; times are in ms.
-- -> {'OK', settlements, token, end}, or {'KEPT', ...} of those of an earlier call,
--    and how many were leased now. Of a settlement: 5 bytes sequence, 1 how often it
--    was claimed, 14 slot
local function lease_players(operator, claim, room, ending, latest, attempts, backoff, sort)
  local outbox, ready, dead = tag .. ':o:' .. operator, tag .. ':y:' .. operator, tag .. ':d:' .. operator
  local claim_key, wanted = tag .. ':j:' .. operator .. ':' .. claim, room
  local ms = now()

  local items, n = {}, 0

  -- give adds a settlement to the answer.
  local function give(sequence, claims)
    items[n + 1], items[n + 2], items[n + 3] = sequence, claims, slot_at(outbox, read5(sequence, 1))
    n = n + 3
  end

  local made = read(claim_key)
  if made then
    if tonumber(made.e) <= ms then return {'OK', '', '0', '0'}, 0 end
    for field, run in pairs(made) do
      if field:sub(1, 1) == 'p' then
        for at = 1, #run, 6 do give(run:sub(at, at + 4), run:sub(at + 5, at + 5)) end
      end
    end
    return {'KEPT', table.concat(items), made.t, made.e}, 0
  end
  if ms > latest or ms >= ending then return {'OK', '', '0', '0'}, 0 end

  local at, last = sort_slots(operator, sort)
  if not at then return broken(last), 0 end

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

  -- again returns the first of what is held, claimed once more. What is claimed
  -- again may be old: its entries must not go.
  local function again(held, count)
    local run = {}
    for i = 1, count do
      local place = i * 6 - 5
      local sequence, claims = held:sub(place, place + 4), string.char(math.min(255, held:byte(place + 5) + 1))
      give(sequence, claims)
      run[i] = sequence .. claims
      local key = entry_key(read5(sequence, 1))
      if not persisted[key] then
        persisted[key] = true
        call('PERSIST', key)
      end
    end
    return table.concat(run)
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
    if held ~= '' and claims % 256 >= attempts then
      held, claims = bury(held), 0
    end
    local take = math.min(room, #held / 6)
    local text = again(held, take)
    if take == #held / 6 and take < room then
      local fresh = call('LRANGE', list, 0, int(room - take - 1))
      if #fresh > 0 then
        call('LTRIM', list, #fresh, -1)
        for _, sequence in ipairs(fresh) do give(sequence, '\1') end
        text = text .. table.concat(fresh, '\1') .. '\1'
      end
    end
    if text == '' then
      call('ZREM', ready, player)
      call('DEL', state)
      return
    end
    claims = claims + 1
    room = room - #text / 6
    token = token or int(math.max(tonumber(call('HGET', tag .. ':q:' .. operator, 't') or '0') + 1, (ms - EPOCH) * 1000))
    call('HSET', state, 'h', text .. held:sub(take * 6 + 1), 'f', int(claims), 'n', int(#text / 6), 'T', token, 'E', int(ending), 'C', claim)
    call('ZADD', ready, int(ending + delay(claims, backoff)), player)
    got[#got + 1] = 'p' .. player
    got[#got + 1] = text
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
  if #got == 0 then return {'OK', '', '0', '0'}, 0 end
  call('HSET', tag .. ':q:' .. operator, 't', token)
  call('HSET', claim_key, 't', token, 'e', int(ending), unpack(got))
  call('PEXPIREAT', claim_key, int(ending + 3600000))
  return {'OK', table.concat(items), token, int(ending)}, wanted - room
end
