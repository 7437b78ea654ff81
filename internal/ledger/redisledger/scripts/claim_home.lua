-- KEYS outbox, claim at home; ARGV operator, claim, most settlements, claims in vain,
-- first delay in ms, settlements to sort, lease in ms, fingerprint, this partition.
-- -> what lease_players returns, when that is all
--    | {'MORE', ..., end, latest} when it is not
--    | {'AGAIN', end, latest} when the claim was made before and cut off
--    | {'DONE', partitions} of one that was done | ENDED | REUSED
local home, count = KEYS[2], tonumber(ARGV[3])
local h = read(home)
local ms = now()
if h then
  if h.g ~= ARGV[8] then return {'REUSED'} end
  if tonumber(h.e) <= ms then return {'ENDED'} end
  if h.p then return {'DONE', h.p} end
  return {'AGAIN', h.e, int(tonumber(h.m) + 5000)}
end

local ending, latest = ms + tonumber(ARGV[7]), ms + 5000
local answer, leased = lease_players(ARGV[1], ARGV[2], count, ending, latest, tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]))
if answer.err then return answer end
local record = {'g', ARGV[8], 'e', int(ending), 'm', int(ms)}
if leased == count then
  record[7], record[8] = 'p', ARGV[9]
else
  answer[1], answer[5], answer[6] = 'MORE', int(ending), int(latest)
end
call('HSET', home, unpack(record))
call('PEXPIREAT', home, int(ending + 86400000))
return answer
