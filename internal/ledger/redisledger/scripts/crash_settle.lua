-- KEYS table in this partition; ARGV table, epoch, owner, and for each bet:
-- player's name, book, count, state, targets, payout, its 7 bytes, worst case,
-- currency, outbox, slot.
-- -> {'OK', for each bet: its record, or '' when there is none, and the balance, or ! and what is broken} | FENCED
local t, epoch, owner = ARGV[1], ARGV[2], ARGV[3]
if stranger(t, tonumber(epoch), owner) then return {'FENCED'} end

-- settled is, of each round, its bets that ended now and how many are not void.
local settled = {}
local function note(number, entry, ending)
  local s = settled[number]
  if not s then
    s = {entries = {}, counted = 0}
    settled[number] = s
  end
  s.entries[#s.entries + 1] = entry
  if ending ~= VOID then s.counted = s.counted + 1 end
end

local answers = {'OK'}
for i = 4, #ARGV, 11 do
  local name, book, count, currency = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[i + 8]
  local record = read_bet(book, count)
  local balance, number
  if not record then
    record, balance = '', '0'
  elseif state(record) ~= OPEN then
    balance = call('HGET', tag .. ':u:' .. name, 'b' .. currency) or '0'
  else
    local ending = tonumber(ARGV[i + 3])
    record, balance, number = end_bet(name, book, count, record, ending, ARGV[i + 4], tonumber(ARGV[i + 5]),
      ARGV[i + 6], tonumber(ARGV[i + 7]), currency, ARGV[i + 9], ARGV[i + 10])
    if record then
      note(number, book .. '-' .. ARGV[i + 2], ending)
    else
      record, balance = '', '!' .. balance -- the others are ended all the same
    end
  end
  local n = #answers
  answers[n + 1], answers[n + 2] = record, balance
end
for number, s in pairs(settled) do leave_round(t, number, s.entries, s.counted) end
return answers
