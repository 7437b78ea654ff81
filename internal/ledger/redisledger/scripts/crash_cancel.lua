-- KEYS player; ARGV table, player's name, book, count, targets, stake, its 7
-- bytes, worst case, currency, outbox, slot.
-- -> {'OK', count, record, balance, '1' when it was cancelled now} | CLOSED | NOTFOUND
local t, name, book, count, targets, stake, stake7, worst, currency, outbox, slot = unpack(ARGV)
count = tonumber(count)
local record = read_bet(book, count)
if not record then return {'NOTFOUND'} end
local balance = units(call('HGET', KEYS[1], 'b' .. currency) or nil)
if not balance then return broken('balance') end
if state(record) == VOID then return {'OK', int(count), record, int(balance), ''} end
if state(record) ~= OPEN then return {'CLOSED'} end

local phase = call('HMGET', phase_key(t), 'n', 'p', 'f')
local newest, number = units(phase[1] or nil), number_of(record)
if not newest or number < newest or number == newest and phase[2] ~= '1' or phase[3] ~= fence() then return {'CLOSED'} end

local ended, what, round = end_bet(name, book, count, record, VOID, targets, tonumber(stake), stake7, tonumber(worst), currency, outbox, slot)
if not ended then return broken(what) end
leave_round(t, round, {book .. '-' .. int(count)}, 0)
return {'OK', int(count), ended, what, '1'}
