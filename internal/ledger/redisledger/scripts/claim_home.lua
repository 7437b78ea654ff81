-- KEYS claim at home; ARGV fingerprint, lease in ms, first partition.
-- -> {'OPEN', end, first partition, latest, '1' when it was made before} for the caller to go on with
--    | {'DONE', end, partitions} | REUSED
local h = read(KEYS[1])
local ms, before = now(), h and '1' or ''
if not h then
  h = {g = ARGV[1], e = int(ms + tonumber(ARGV[2])), s = ARGV[3], m = int(ms)}
  call('HSET', KEYS[1], unpack(show(h)))
  call('PEXPIREAT', KEYS[1], int(tonumber(h.e) + 86400000))
end
if h.g ~= ARGV[1] then return {'REUSED'} end
if tonumber(h.e) <= ms then return {'DONE', '0', ''} end
if h.p then return {'DONE', h.e, h.p} end
return {'OPEN', h.e, h.s, int(tonumber(h.m) + 5000), before}
