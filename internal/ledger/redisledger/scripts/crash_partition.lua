-- KEYS table in this partition; ARGV table, epoch, owner, number, '1' to open
-- or '0' to close.
-- -> {'OK', settled bets of the round, bets, numbers that have unsettled bets, newest round here} | FENCED
local t, epoch, owner, number, open = unpack(ARGV)
if stranger(t, tonumber(epoch), owner) then return {'FENCED'} end
local newest = units(call('HGET', KEYS[1], 'n') or '0')
if not newest or newest > tonumber(number) and open == '1' then return broken('a later round was opened') end
-- What was closed for a round stays closed: a call to open it may be taken twice, the second time after the close,
-- and an owner may have died between the close and the lock.
if open == '1' and newest == tonumber(number) and call('HGET', KEYS[1], 'p') == '0' then
  call('HSET', KEYS[1], 'e', epoch, 'w', owner)
  return {'OK'}
end
local life = fence()
if not life then return broken('no master_replid') end

-- What the round has here. A later one may have been opened here when the home
-- of the table, on another node, has lost writes.
local function closed(last)
  return {'OK', call('GET', count_key(t, number)) or '0', call('HGETALL', bets_key(t, number)), call('SMEMBERS', live_key(t)), int(last)}
end
if newest > tonumber(number) then
  call('HSET', KEYS[1], 'p', open, 'e', epoch, 'w', owner, 'f', life)
  return closed(newest)
end

-- Bets that were queued for the round after the newest enter this one, also
-- when numbers were skipped.
local queued, queued_entry = int(newest + 1)
if newest > 0 and tonumber(number) > newest + 1 then
  for i, v in ipairs(call('HGETALL', bets_key(t, queued))) do
    if i % 2 == 1 then queued_entry = v else
      local book, count = queued_entry:match('^(%w+)-(%d+)$')
      local record = book and read_bet(book, tonumber(count))
      if record and state(record) == OPEN then
        local at = number_at(record)
        record = record:sub(1, at - 1) .. number4(tonumber(number)) .. record:sub(at + 4)
        call('HSET', bucket('r', book, tonumber(count)), int(tonumber(count) % 128), record)
        call('HDEL', pair_key(book), 'b' .. queued)
        call('HSET', pair_key(book), 'b' .. number, count)
        call('HSET', bets_key(t, number), queued_entry, v:sub(1, v:find('\0', 1, true)) .. record)
        call('SADD', live_key(t), number)
      end
    end
  end
  call('DEL', bets_key(t, queued))
  call('SREM', live_key(t), queued)
end
if int(newest) ~= number then call('DEL', count_key(t, int(newest))) end
call('HSET', KEYS[1], 'n', number, 'p', open, 'e', epoch, 'w', owner, 'f', life)
if open == '1' then return {'OK'} end
return closed(tonumber(number))
