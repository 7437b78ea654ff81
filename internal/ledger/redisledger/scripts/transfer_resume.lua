-- KEYS home; ARGV part, digest, lease in ms, '1' to remember an id that was
-- never seen as cancelled.
-- -> {'RUN', record} of one that was begun, for the caller to go on with
--    | {'KEPT', record} | {'CANCELLED', record} now | BUSY | NOTFOUND
local part, digest, lease, cancel = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local record, key = find_transfer(KEYS[1], part, digest)
local ms = now()
if not record then
  if cancel ~= '1' then return {'NOTFOUND'} end
  record = string.char(CANCELLED * 16) .. number5(ms - EPOCH) .. number7(0) .. number7(0)
  keep_transfer(key, digest, record)
  return {'CANCELLED', record}
end
if transfer_state(record) ~= BEGUN then return {'KEPT', record} end
if read7(record, 7) > ms then return {'BUSY'} end
record = record:sub(1, 6) .. number7(ms + lease) .. record:sub(14)
call('HSET', key, digest, record)
return {'RUN', record}
