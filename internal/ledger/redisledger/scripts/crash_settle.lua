-- KEYS table in this partition; ARGV table, epoch, owner, and for each bet:
-- player's name, book, count, state, targets, payout, its 7 bytes, worst case,
-- currency, outbox, slot.
-- -> {'OK', for each bet: its record, or '' when there is none, and the balance, or ! and what is broken} | FENCED
local t, epoch, owner = ARGV[1], ARGV[2], ARGV[3]
if stranger(t, tonumber(epoch), owner) then return {'FENCED'} end
local answers, touched = {'OK'}, {}
for i = 4, #ARGV, 11 do
  local name, book, count, currency = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[i + 8]
  local record = read_bet(book, count)
  local balance
  if not record then
    record, balance = '', '0'
  elseif state(record) ~= OPEN then
    balance = call('HGET', tag .. ':u:' .. name, 'b' .. currency) or '0'
  else
    touched[int(number_of(record))] = true
    record, balance = end_bet(t, name, book, count, record, tonumber(ARGV[i + 3]), ARGV[i + 4], tonumber(ARGV[i + 5]),
      ARGV[i + 6], tonumber(ARGV[i + 7]), currency, ARGV[i + 9], ARGV[i + 10])
    if not record then record, balance = '', '!' .. balance end -- the others are ended all the same
  end
  table.insert(answers, record)
  table.insert(answers, balance)
end
for number in pairs(touched) do forget_round(t, number) end
return answers
