-- KEYS claim at home; ARGV lease in ms from now; '' to look only, 0 to end the claim.
-- -> {'OK', partitions, '1' when it is not known that there are no others, end} | NOTFOUND
local h = read(KEYS[1])
local ms = now()
if not h or tonumber(h.e) <= ms then return {'NOTFOUND'} end
if ARGV[1] ~= '' then
  h.e = int(ms + tonumber(ARGV[1]))
  call('HSET', KEYS[1], 'e', h.e)
  call('PEXPIREAT', KEYS[1], int(tonumber(h.e) + 86400000))
end
return {'OK', h.p or '', h.p and '' or '1', h.e}
