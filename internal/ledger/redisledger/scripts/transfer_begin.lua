-- KEYS home; ARGV part, digest, direction, content, lease in ms.
-- -> {'RUN', record} for the caller to go on with | {'KEPT', record} of a final
--    state or of other content | {'BUSY', record}
local part, digest, direction, content, lease = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
local record, key = find_transfer(KEYS[1], part, digest)
local ms = now()
if record then
  if transfer_state(record) ~= BEGUN then return {'KEPT', record} end
  if record:sub(14) ~= content or math.floor(record:byte(1) % 16 / 4) ~= direction then return {'KEPT', record} end
  if read7(record, 7) > ms then return {'BUSY', record} end
  record = record:sub(1, 6) .. number7(ms + lease) .. record:sub(14)
  call('HSET', key, digest, record)
  return {'RUN', record}
end
record = string.char(BEGUN * 16 + direction * 4) .. number5(ms - EPOCH) .. number7(ms + lease) .. content
keep_transfer(key, digest, record)
return {'RUN', record}
