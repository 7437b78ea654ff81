-- KEYS home; ARGV part, digest, head (state and refusal), 7 bytes of balance.
-- -> {'OK', record} as it stands for ever
local record, key = find_transfer(KEYS[1], ARGV[1], ARGV[2])
if not record then return broken('transfer was not begun') end
if transfer_state(record) == BEGUN then
  record = string.char(tonumber(ARGV[3]) + record:byte(1) % 16) .. record:sub(2, 6) .. ARGV[4] .. record:sub(14)
  call('HSET', key, ARGV[2], record)
end
return {'OK', record}
